{#
  Writes the manifest of an external model beside its file, for a post-hook: what anon_manifest
  says, and the hash of the file. raw: the table that was released. previous: the files of earlier
  releases, whose hashes are stated in place of those of their rows. series: anon_sql.series(…).
  Others: as anon_manifest; ./generate writes their names here.
#}
{% macro write_manifest(
    raw, method=none, k=none, l=none, t=none, l_kind='distinct', c=3, entity=none, seed=none,
    quasi=none, sensitive=none, identifiers=none, keep=none, hierarchy=none, unique_share=0,
    beta=none, delta=none, purpose=none, recipient=none, assumptions=none, previous=none,
    previous_share=0, suppressed='keep', options=none, beta_kind='enhanced', max_share=none,
    exclude=none, series=none, key='env:ANON_KEY', unit='person', ordered=none, environment=none,
    review_by=none, review=none) %}
  {%- if execute -%}
  {%- set location = render(config.get('location', default=external_location(this, config))) -%}
  {%- set files = [previous] if previous is string else previous or [] -%}
  {%- set stated = {
    'method': method, 'k': k, 'l': l, 't': t, 'l_kind': l_kind, 'c': c, 'entity': entity,
    'seed': seed, 'quasi': quasi, 'sensitive': sensitive, 'identifiers': identifiers, 'keep': keep,
    'unique_share': unique_share, 'beta': beta, 'delta': delta, 'purpose': purpose,
    'recipient': recipient, 'assumptions': assumptions, 'previous_share': previous_share,
    'suppressed': suppressed, 'options': options, 'beta_kind': beta_kind, 'max_share': max_share,
    'exclude': exclude, 'key': key, 'unit': unit, 'ordered': ordered, 'environment': environment,
    'review_by': review_by, 'review': review
  } -%}
  copy (
    select
        * replace (struct_update(series, previous := [
            {%- for file in files %}
            {'name': parse_filename({{ anon_sql.text(file) }}), 'sha256': {{ anon_sql.file_hash(file) }}}
            {{- "," if not loop.last }}
            {%- endfor %}]) as series),
        {'sha256': {{ anon_sql.file_hash(location) }}} as output
    from anon_manifest(
        {{ anon_sql.name(raw) }}, {{ anon_sql.name(this) }}, hierarchy := {{ anon_sql.name(hierarchy) }},
        previous := {{ anon_sql.text(files or none) }}, series := {{ anon_sql.name(series) }}
        {%- for name, value in stated.items() %}, {{ name }} := {{ anon_sql.value(value) }}{% endfor %})
  ) to {{ anon_sql.text(location ~ '.anon.json') }} (format json)
  {%- endif -%}
{% endmacro %}
