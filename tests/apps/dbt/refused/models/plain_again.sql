select age, sex, occupation from {{ ref('adult') }}
