{{ config(enabled=false) }}
