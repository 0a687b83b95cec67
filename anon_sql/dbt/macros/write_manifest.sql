{#
  Writes the manifest of an external model beside its file, for a post-hook: what anon_manifest
  says, and the hash of the file. raw: the table that was released.
  Others: as anon_manifest.
#}
{% macro write_manifest(raw, method=none, k=none, l=none, t=none, l_kind='distinct', c=3,
    entity=none, seed=none, qids=none, sensitive=none, identifiers=none, keep=none, hierarchy=none,
    unique_share=0, beta=none, delta=none, purpose=none, recipient=none, assumptions=none) %}
  {%- if execute -%}
  {%- set location = render(config.get('location', default=external_location(this, config))) -%}
  copy (
    select *, {'sha256': (select sha256(content) from read_blob({{ anon_sql.text(location) }}))} as output
    from anon_manifest(
        {{ anon_sql.name(raw) }}, {{ anon_sql.name(this) }}, {{ anon_sql.text(method) }},
        k := {{ anon_sql.number(k) }}, l := {{ anon_sql.number(l) }}, t := {{ anon_sql.number(t) }},
        l_kind := {{ anon_sql.text(l_kind) }}, c := {{ c }}, entity := {{ anon_sql.text(entity) }},
        seed := {{ anon_sql.number(seed) }}, qids := {{ anon_sql.text(qids) }},
        sensitive := {{ anon_sql.text(sensitive) }}, identifiers := {{ anon_sql.text(identifiers) }},
        keep := {{ anon_sql.text(keep) }}, hierarchy := {{ anon_sql.name(hierarchy) }},
        unique_share := {{ unique_share }}, beta := {{ anon_sql.number(beta) }},
        delta := {{ anon_sql.number(delta) }}, purpose := {{ anon_sql.text(purpose) }},
        recipient := {{ anon_sql.text(recipient) }}, assumptions := {{ anon_sql.text(assumptions) }})
  ) to {{ anon_sql.text(location ~ '.anon.json') }} (format json)
  {%- endif -%}
{% endmacro %}
