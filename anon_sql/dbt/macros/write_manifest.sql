{#
  Writes the manifest of an external model beside its file, for a post-hook: what anon_manifest
  says, and the hash of the file. raw: the table that was released. previous: the files of earlier
  releases, whose hashes are stated in place of those of their rows.
  Others: as anon_manifest.
#}
{% macro write_manifest(raw, method=none, k=none, l=none, t=none, l_kind='distinct', c=3,
    entity=none, seed=none, qids=none, sensitive=none, identifiers=none, keep=none, hierarchy=none,
    unique_share=0, beta=none, delta=none, purpose=none, recipient=none, assumptions=none,
    previous=none, previous_share=0, invariant=none, counterfeits=none,
    beta_kind='enhanced', max_share=none) %}
  {%- if execute -%}
  {%- set location = render(config.get('location', default=external_location(this, config))) -%}
  {%- set files = [previous] if previous is string else previous or [] -%}
  copy (
    select
        * replace (struct_update(series, previous := [
            {%- for file in files %}
            {'name': parse_filename({{ anon_sql.text(file) }}), 'sha256': {{ anon_sql.file_hash(file) }}}
            {{- "," if not loop.last }}
            {%- endfor %}]) as series),
        {'sha256': {{ anon_sql.file_hash(location) }}} as output
    from anon_manifest(
        {{ anon_sql.name(raw) }}, {{ anon_sql.name(this) }}, {{ anon_sql.text(method) }},
        k := {{ anon_sql.number(k) }}, l := {{ anon_sql.number(l) }}, t := {{ anon_sql.number(t) }},
        l_kind := {{ anon_sql.text(l_kind) }}, c := {{ c }}, entity := {{ anon_sql.text(entity) }},
        seed := {{ anon_sql.number(seed) }}, qids := {{ anon_sql.text(qids) }},
        sensitive := {{ anon_sql.text(sensitive) }}, identifiers := {{ anon_sql.text(identifiers) }},
        keep := {{ anon_sql.text(keep) }}, hierarchy := {{ anon_sql.name(hierarchy) }},
        unique_share := {{ unique_share }}, beta := {{ anon_sql.number(beta) }},
        delta := {{ anon_sql.number(delta) }}, purpose := {{ anon_sql.text(purpose) }},
        recipient := {{ anon_sql.text(recipient) }}, assumptions := {{ anon_sql.text(assumptions) }},
        invariant := {{ anon_sql.number(invariant) }}, previous := {{ anon_sql.text(files or none) }},
        previous_share := {{ previous_share }}, counterfeits := {{ anon_sql.number(counterfeits) }},
        beta_kind := {{ anon_sql.text(beta_kind) }}, max_share := {{ anon_sql.number(max_share) }})
  ) to {{ anon_sql.text(location ~ '.anon.json') }} (format json)
  {%- endif -%}
{% endmacro %}
