{{ config(materialized='ephemeral') }} select age, sex, occupation from {{ ref('adult') }}
