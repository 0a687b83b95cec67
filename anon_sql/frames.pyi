"""The functions of frames.py. Made from sql/ and the declared parameters by ./generate."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

Columns: TypeAlias = str | Sequence[str] | None
Frame: TypeAlias = Any  # a pandas, Polars or PyArrow table, a relation of DuckDB, or a path
Weights: TypeAlias = Mapping[str, float] | None

__all__ = [
    "anon_manifest",
    "anon_methods",
    "anon_roles",
    "anonymize",
    "anonymize_stats",
    "attack_background",
    "attack_downcoding",
    "attack_homogeneity",
    "attack_inference",
    "attack_linking",
    "attack_minimality",
    "attack_skewness",
    "attribute_loss",
    "audit",
    "basic_mondrian",
    "beta_likeness",
    "canon",
    "cavg",
    "check_hierarchy",
    "classification",
    "cof_score",
    "compare",
    "composition",
    "data_quality",
    "datafly",
    "date_hierarchy",
    "delta_disclosure",
    "dm",
    "dm_star",
    "dop",
    "dop_stats",
    "equivalence_classes",
    "full_domain",
    "gcp",
    "generalize",
    "gower_ranges",
    "iloss",
    "imbalance",
    "inference",
    "isolation",
    "k_anonymity",
    "k_member",
    "l_diversity",
    "lattice",
    "ledger_entry",
    "ledger_new",
    "ledger_overlap",
    "linkage",
    "max_share",
    "mondrian",
    "mondrian_cof",
    "mondrian_cof_stats",
    "mondrian_partition",
    "numeric_hierarchy",
    "oka",
    "paper_queries",
    "prefix_hierarchy",
    "query_error",
    "query_workload",
    "rayden",
    "rayden_stats",
    "read_hierarchies",
    "rewrite_query",
    "risk",
    "safe_harbor",
    "sdka",
    "sdka_stats",
    "series_forget",
    "series_next",
    "series_status",
    "suggest_roles",
    "suppression_rate",
    "t_closeness",
    "top_down",
    "tradeoff",
    "unique_combinations",
    "utility",
    "value_loss",
    "vp_partition",
    "workload_error",
]


def anonymize(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42,
    effort: Literal['good', 'fast', 'best'] = 'good', time_limit: float = 30,
    rounds: int | None = None, hierarchy: Frame = None, beta: float | None = None,
    delta: float | None = None, strata: Columns = None, weights: Weights = None,
    suppression_limit: float | None = None, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    max_share: float | None = None, exclude: Columns = None, series: Frame = None, key: Any = None,
    bin_width: Mapping[str, float] | None = None, transparent: bool = False,
    transparent_by: Literal['groups', 'size'] = 'groups', ordered: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """A k-anonymous release that loses as little information as the effort allows: classes of k to
    2k - 1 rows, chosen by their loss (NCP) and not by a distance. No row is suppressed unless
    suppression_limit allows it. With format='mean' or 'median' the loss is the sum of squared
    distances from the class means, over standardized columns (microaggregation).

    As in every release: data, quasi, sensitive, identifiers, keep, exclude, k, l, l_kind, c, t,
    beta, beta_kind, delta, max_share, entity, format, strata, weights, bin_width, ordered.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. 'drop' is refused if
        more rows are suppressed than suppression_limit allows.
    seed: seed for random choices. Only effort 'best' makes any; with 'mean' or 'median', every
        effort does.
    effort: search effort: 'fast', 'good' (about three times as long) or 'best' (continues from
        the result of 'good'). A higher effort loses less information.
    time_limit: seconds that 'best' may search, not counting the compilation of kernels.
    rounds: number of rounds that 'best' searches, without a time limit, so that the same call
        gives the same release; None means as many as time_limit allows.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none. Columns in it are labelled by its nodes and
        scored by the leaves below them.
    suppression_limit: largest share of rows to suppress, 0…1, where that lowers the loss of all
        rows (a suppressed row loses 1); anonymize_stats shows what it saved; None for none.
    series: state of a series that series_next has made of this table; the release then consists
        of its cohorts, the rows of former members included; without a key, that of the series
        is 'env:ANON_KEY'; None for none.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    transparent: true makes classes that tell no more than the constraints allow, even to an
        attacker who knows the method and all parameters except the key; no value has a share
        above 1/l.
    transparent_by: how: 'groups' divides rows into groups whose values can be exchanged; 'size'
        makes larger and larger classes without looking at values until all satisfy the
        constraints, so that they tell one number, but it bounds no share.
    Returns: the columns of the source without the identifiers; quasi-identifiers are
        generalized.
    Errors: a column without a role, no quasi-identifier, k above the number of rows, unknown
        columns or options.
    """


def basic_mondrian(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42, hierarchy: Frame = None,
    beta: float | None = None, delta: float | None = None, strata: Columns = None,
    weights: Weights = None, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    max_share: float | None = None, exclude: Columns = None,
    bin_width: Mapping[str, float] | None = None, series: Frame = None, key: Any = None,
    transparent: bool = False, transparent_by: Literal['groups', 'size'] = 'groups',
    ordered: Columns = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """A k-anonymous release by basic Mondrian (LeFevre et al. 2006): classes are cut along
    hierarchies, the widest column first. A number without a hierarchy is cut at its median,
    text into its values.

    As in every release: data, quasi, sensitive, identifiers, keep, exclude, k, l, l_kind, c, t,
    beta, beta_kind, delta, max_share, entity, format, hierarchy, strata, weights, bin_width,
    ordered.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. This function
        suppresses no rows on request: 'drop' is refused if a class is * in every quasi-
        identifier.
    seed: seed for random choices. It has no effect: the method makes no random choices.
    series: state of a series that series_next has made of this table; the release then consists
        of its cohorts, the rows of former members included; without a key, that of the series
        is 'env:ANON_KEY'; None for none.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    transparent: true makes classes that tell no more than the constraints allow, even to an
        attacker who knows the method and all parameters except the key; no value has a share
        above 1/l.
    transparent_by: how: 'groups' divides rows into groups whose values can be exchanged; 'size'
        makes larger and larger classes without looking at values until all satisfy the
        constraints, so that they tell one number, but it bounds no share.
    Returns: the columns of the source without the identifiers; quasi-identifiers are
        generalized.
    Errors: a column without a role, no quasi-identifier, k above the number of rows, a value
        that its hierarchy lacks.
    """


def canon(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42,
    vantage: Literal['random', 'max_spread', 'farthest'] = 'random',
    cut: Literal['balanced', 'median', 'aligned'] = 'median', tries: int = 8,
    hierarchy: Frame = None, beta: float | None = None, delta: float | None = None,
    strata: Columns = None, weights: Weights = None,
    beta_kind: Literal['enhanced', 'basic'] = 'enhanced', max_share: float | None = None,
    exclude: Columns = None, bin_width: Mapping[str, float] | None = None, series: Frame = None,
    key: Any = None, transparent: bool = False,
    transparent_by: Literal['groups', 'size'] = 'groups', ordered: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """A k-anonymous release of numeric quasi-identifiers by CANON (Canbay et al. 2022): the
    classes are the leaves of a VP-tree.

    As in every release: data, quasi, sensitive, identifiers, keep, exclude, k, l, l_kind, c, t,
    beta, beta_kind, delta, max_share, entity, format, seed, strata, weights, bin_width,
    ordered.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. This function
        suppresses no rows on request: 'drop' is refused if a class is * in every quasi-
        identifier.
    vantage: how to choose the vantage point: 'random', 'max_spread' or 'farthest'.
    cut: where to cut: 'balanced', 'median' or 'aligned'.
    tries: number of vantage points tried for a median cut.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none. It must not contain a quasi-identifier, because
        the distance needs numbers.
    series: state of a series that series_next has made of this table; the release then consists
        of its cohorts, the rows of former members included; without a key, that of the series
        is 'env:ANON_KEY'; None for none.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    transparent: true makes classes that tell no more than the constraints allow, even to an
        attacker who knows the method and all parameters except the key; no value has a share
        above 1/l.
    transparent_by: how: 'groups' divides rows into groups whose values can be exchanged; 'size'
        makes larger and larger classes without looking at values until all satisfy the
        constraints, so that they tell one number, but it bounds no share.
    Returns: the columns of the source without the identifiers; quasi-identifiers are
        generalized.
    Errors: a quasi-identifier that is text or has a hierarchy (use rayden), k above the number
        of rows.
    """


def datafly(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42, hierarchy: Frame = None,
    suppression_limit: float | None = None, beta: float | None = None, delta: float | None = None,
    strata: Columns = None, like: Frame = None,
    beta_kind: Literal['enhanced', 'basic'] = 'enhanced', max_share: float | None = None,
    exclude: Columns = None, bin_width: Mapping[str, float] | None = None, series: Frame = None,
    key: Any = None, ordered: Columns = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """A k-anonymous release by Datafly (Sweeney 1998): whole columns are generalized along their
    hierarchies, level by level, until few rows are in combinations rarer than k; these rows are
    suppressed.

    As in every release: data, quasi, sensitive, identifiers, keep, exclude, k, l, l_kind, c, t,
    beta, beta_kind, delta, max_share, entity, format, hierarchy, strata, bin_width, ordered.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. 'drop' is refused if
        more rows are suppressed than suppression_limit allows. If the shown rows are too few
        for a class, the rows of the smallest classes are suppressed too.
    seed: seed for random choices. It has no effect: the method makes no random choices.
    suppression_limit: largest allowed share of suppressed rows, 0…1; None means k rows.
    like: earlier release by full_domain or datafly, in labels; rows are recoded with its labels
        and no others. A row is suppressed if one of its values or NULLs has no such label, or
        if its class is not legal; None for none.
    series: state of a series that series_next has made of this table; the release then consists
        of its cohorts, the rows of former members included; without a key, that of the series
        is 'env:ANON_KEY'; None for none. Refused: a column that is generalized alike in all
        rows fits no cohorts.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    Returns: the columns of the source without the identifiers; quasi-identifiers are
        generalized.
    Errors: a quasi-identifier without a hierarchy, k above the number of rows, a value that its
        hierarchy lacks, a like whose labels overlap or that suppresses more than
        suppression_limit.
    """


def dop(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42, eps: float | None = None,
    min_samples: int | None = None, loss: Literal['lil', 'ncp'] = 'lil',
    noise: Literal['class', 'split', 'suppress'] = 'class', hierarchy: Frame = None,
    beta: float | None = None, delta: float | None = None, strata: Columns = None,
    weights: Weights = None, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    max_share: float | None = None, exclude: Columns = None,
    bin_width: Mapping[str, float] | None = None, series: Frame = None, key: Any = None,
    transparent: bool = False, transparent_by: Literal['groups', 'size'] = 'groups',
    ordered: Columns = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """A k-anonymous release by DOP (Sharma et al.): dense clusters (DBSCAN), each cut where the
    loss is least.

    As in every release: data, quasi, sensitive, identifiers, keep, exclude, k, l, l_kind, c, t,
    beta, beta_kind, delta, max_share, entity, format, strata, weights, bin_width, ordered.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. Rows are suppressed
        only by noise='suppress': 'drop' is refused if a class is * in every quasi-identifier
        for another reason.
    seed: seed for random choices. It has no effect: the method makes no random choices.
    eps: rows within this distance of each other are neighbours; None means a distance that
        leaves at most 1 % noise.
    min_samples: number of neighbours that make a row dense, itself included; None means k.
    loss: loss to reduce: 'lil' (range of the numeric columns, as in the paper) or 'ncp' (loss
        of all columns).
    noise: what becomes of noise: 'class' makes it one class, 'split' also cuts that class like
        a cluster, as 'ncp' always does; with both, noise that is not a legal class joins the
        nearest clusters. 'suppress' suppresses it.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none. Columns in it are labelled by its nodes.
    series: state of a series that series_next has made of this table; the release then consists
        of its cohorts, the rows of former members included; without a key, that of the series
        is 'env:ANON_KEY'; None for none.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    transparent: true makes classes that tell no more than the constraints allow, even to an
        attacker who knows the method and all parameters except the key; no value has a share
        above 1/l.
    transparent_by: how: 'groups' divides rows into groups whose values can be exchanged; 'size'
        makes larger and larger classes without looking at values until all satisfy the
        constraints, so that they tell one number, but it bounds no share.
    Returns: the columns of the source without the identifiers; quasi-identifiers are
        generalized.
    Errors: a column without a role, no quasi-identifier, k above the number of rows, unknown
        columns or options, scikit-learn (extra ml) not installed.
    """


def full_domain(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42, hierarchy: Frame = None,
    suppression_limit: float = 0, minimize: Literal['gcp', 'dm', 'height'] = 'gcp',
    beta: float | None = None, delta: float | None = None, strata: Columns = None,
    like: Frame = None, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    max_share: float | None = None, exclude: Columns = None,
    bin_width: Mapping[str, float] | None = None, series: Frame = None, key: Any = None,
    ordered: Columns = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """A k-anonymous release by optimal full-domain generalization (Samarati 2001; OLA, El Emam et
    al. 2009; Flash, Kohlmayer et al. 2012): one level per column for all rows, the best of all
    combinations of levels that are legal.

    As in every release: data, quasi, sensitive, identifiers, keep, exclude, k, l, l_kind, c, t,
    beta, beta_kind, delta, max_share, entity, format, strata, bin_width, ordered.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. Suppressed rows that
        are shown must be a legal class: if they are too few, the rows of the smallest classes
        are suppressed too. 'drop' never leaves out all rows.
    seed: seed for random choices. It has no effect: the method makes no random choices.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none. Without a hierarchy, numbers, dates and times are
        generalized to ranges of doubling width and then to *, and text directly to *.
    suppression_limit: largest allowed share of suppressed rows, 0…1.
    minimize: what to minimize: 'gcp' (information loss), 'dm' (discernibility) or 'height' (the
        sum of the levels; ties go to the least information loss).
    like: earlier release by full_domain or datafly, in labels; rows are recoded with its labels
        and no others. A row is suppressed if one of its values or NULLs has no such label, or
        if its class is not legal; None for none.
    series: state of a series that series_next has made of this table; the release then consists
        of its cohorts, the rows of former members included; without a key, that of the series
        is 'env:ANON_KEY'; None for none. Refused: a column that is generalized alike in all
        rows fits no cohorts.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    Returns: the columns of the source without the identifiers; quasi-identifiers are
        generalized.
    Errors: k above the number of rows, a value that its hierarchy lacks, more than 4,194,304
        combinations of levels, suppressed='drop' where only * in every column is legal, a like
        whose labels overlap or that suppresses more than suppression_limit.
    """


def k_member(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42, hierarchy: Frame = None,
    beta: float | None = None, delta: float | None = None, strata: Columns = None,
    weights: Weights = None, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    max_share: float | None = None, exclude: Columns = None,
    bin_width: Mapping[str, float] | None = None, series: Frame = None, key: Any = None,
    transparent: bool = False, transparent_by: Literal['groups', 'size'] = 'groups',
    ordered: Columns = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """A k-anonymous release by k-member clustering (Byun et al. 2007): classes of k rows, each
    grown by the row that increases its loss least. The time grows with the square of the number
    of rows.

    As in every release: data, quasi, sensitive, identifiers, keep, exclude, k, l, l_kind, c, t,
    beta, beta_kind, delta, max_share, entity, format, strata, weights, bin_width, ordered.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. This function
        suppresses no rows on request: 'drop' is refused if a class is * in every quasi-
        identifier.
    seed: seed for random choices. Only the first row is chosen at random.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none. Columns in it are labelled by its nodes.
    series: state of a series that series_next has made of this table; the release then consists
        of its cohorts, the rows of former members included; without a key, that of the series
        is 'env:ANON_KEY'; None for none.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    transparent: true makes classes that tell no more than the constraints allow, even to an
        attacker who knows the method and all parameters except the key; no value has a share
        above 1/l.
    transparent_by: how: 'groups' divides rows into groups whose values can be exchanged; 'size'
        makes larger and larger classes without looking at values until all satisfy the
        constraints, so that they tell one number, but it bounds no share.
    Returns: the columns of the source without the identifiers; quasi-identifiers are
        generalized.
    Errors: a column without a role, no quasi-identifier, k above the number of rows, unknown
        columns or options.
    """


def mondrian(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42,
    partitioning: Literal['strict', 'relaxed'] = 'strict',
    columns: Literal['any', 'widest'] = 'any', hierarchy: Frame = None, beta: float | None = None,
    delta: float | None = None, strata: Columns = None, weights: Weights = None,
    beta_kind: Literal['enhanced', 'basic'] = 'enhanced', max_share: float | None = None,
    exclude: Columns = None, bin_width: Mapping[str, float] | None = None, series: Frame = None,
    key: Any = None, transparent: bool = False,
    transparent_by: Literal['groups', 'size'] = 'groups', ordered: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """A k-anonymous release by Mondrian (LeFevre et al. 2006): the widest column is cut at its
    median, recursively.

    As in every release: data, quasi, sensitive, identifiers, keep, exclude, k, l, l_kind, c, t,
    beta, beta_kind, delta, max_share, entity, format, strata, weights, bin_width, ordered.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. This function
        suppresses no rows on request: 'drop' is refused if a class is * in every quasi-
        identifier.
    seed: seed for random choices. It has no effect: the method makes no random choices.
    partitioning: 'strict' keeps equal values together; 'relaxed' makes classes of k to 2k - 1
        rows.
    columns: 'any' tries the next widest column if the widest cannot be cut; 'widest' does not.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none. Columns in it are labelled by its nodes.
    series: state of a series that series_next has made of this table; the release then consists
        of its cohorts, the rows of former members included; without a key, that of the series
        is 'env:ANON_KEY'; None for none.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    transparent: true makes classes that tell no more than the constraints allow, even to an
        attacker who knows the method and all parameters except the key; no value has a share
        above 1/l.
    transparent_by: how: 'groups' divides rows into groups whose values can be exchanged; 'size'
        makes larger and larger classes without looking at values until all satisfy the
        constraints, so that they tell one number, but it bounds no share.
    Returns: the columns of the source without the identifiers; quasi-identifiers are
        generalized.
    Errors: a column without a role, no quasi-identifier, k above the number of rows, unknown
        columns or options.
    """


def mondrian_cof(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42, alpha: float = 2.0,
    partitioning: Literal['strict', 'relaxed'] = 'strict', repair: Literal['cap', 'merge'] = 'cap',
    unrecovered: Literal['return', 'suppress'] = 'return',
    distance: Literal['gower', 'codes'] = 'gower', hierarchy: Frame = None,
    threshold: float | None = None, beta: float | None = None, delta: float | None = None,
    strata: Columns = None, weights: Weights = None,
    beta_kind: Literal['enhanced', 'basic'] = 'enhanced', max_share: float | None = None,
    exclude: Columns = None, bin_width: Mapping[str, float] | None = None, series: Frame = None,
    key: Any = None, transparent: bool = False,
    transparent_by: Literal['groups', 'size'] = 'groups', ordered: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """A k-anonymous release by M-COF (Kara and Eyüpoğlu 2023): Mondrian's classes, from which
    outliers are detected by COF and partitioned separately.

    As in every release: data, quasi, sensitive, identifiers, keep, exclude, k, l, l_kind, c, t,
    beta, beta_kind, delta, max_share, entity, format, strata, weights, bin_width, ordered.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. Rows are suppressed
        only by unrecovered='suppress': 'drop' is refused if a class is * in every quasi-
        identifier for another reason.
    seed: seed for random choices. It has no effect: the method makes no random choices.
    alpha: a row is an outlier if its COF exceeds the mean of its class by more than alpha
        standard deviations.
    partitioning: 'strict' keeps equal values together; 'relaxed' makes classes of k to 2k - 1
        rows.
    repair: what to do if a class without its outliers has fewer than k rows: 'cap' keeps as
        many of them as needed, 'merge' merges the class into the nearest one.
    unrecovered: what to do with outliers that form no class of their own: 'return' them to
        their class, or 'suppress' them.
    distance: 'gower', or 'codes' for the Euclidean distance of the paper between scaled codes.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none. Columns in it are labelled by its nodes.
    threshold: a row is an outlier if its COF exceeds this number; alpha then has no effect;
        None means the limit that alpha sets.
    series: state of a series that series_next has made of this table; the release then consists
        of its cohorts, the rows of former members included; without a key, that of the series
        is 'env:ANON_KEY'; None for none.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    transparent: true makes classes that tell no more than the constraints allow, even to an
        attacker who knows the method and all parameters except the key; no value has a share
        above 1/l.
    transparent_by: how: 'groups' divides rows into groups whose values can be exchanged; 'size'
        makes larger and larger classes without looking at values until all satisfy the
        constraints, so that they tell one number, but it bounds no share.
    Returns: the columns of the source without the identifiers; quasi-identifiers are
        generalized.
    Errors: a column without a role, no quasi-identifier, k above the number of rows, unknown
        columns or options.
    """


def oka(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42, hierarchy: Frame = None,
    beta: float | None = None, delta: float | None = None, strata: Columns = None,
    weights: Weights = None, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    max_share: float | None = None, exclude: Columns = None,
    bin_width: Mapping[str, float] | None = None, series: Frame = None, key: Any = None,
    transparent: bool = False, transparent_by: Literal['groups', 'size'] = 'groups',
    ordered: Columns = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """A k-anonymous release by OKA (Lin and Wei 2008): one pass of k-means, then classes above k
    rows give rows to smaller ones. The time grows with the square of the number of rows,
    divided by k.

    As in every release: data, quasi, sensitive, identifiers, keep, exclude, k, l, l_kind, c, t,
    beta, beta_kind, delta, max_share, entity, format, seed, strata, weights, bin_width,
    ordered.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. This function
        suppresses no rows on request: 'drop' is refused if a class is * in every quasi-
        identifier.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none. Columns in it are labelled by its nodes.
    series: state of a series that series_next has made of this table; the release then consists
        of its cohorts, the rows of former members included; without a key, that of the series
        is 'env:ANON_KEY'; None for none.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    transparent: true makes classes that tell no more than the constraints allow, even to an
        attacker who knows the method and all parameters except the key; no value has a share
        above 1/l.
    transparent_by: how: 'groups' divides rows into groups whose values can be exchanged; 'size'
        makes larger and larger classes without looking at values until all satisfy the
        constraints, so that they tell one number, but it bounds no share.
    Returns: the columns of the source without the identifiers; quasi-identifiers are
        generalized.
    Errors: a column without a role, no quasi-identifier, k above the number of rows, unknown
        columns or options.
    """


def rayden(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42, alpha: float = 2.0,
    vantage: Literal['random', 'max_spread', 'farthest'] = 'random',
    cut: Literal['balanced', 'median', 'aligned'] = 'balanced', tries: int = 8,
    repair: Literal['cap', 'merge'] = 'cap', variant: Literal['rayden', 'tang', 'pyod'] = 'rayden',
    unrecovered: Literal['return', 'suppress'] = 'return', hierarchy: Frame = None,
    threshold: float | None = None, beta: float | None = None, delta: float | None = None,
    strata: Columns = None, weights: Weights = None,
    beta_kind: Literal['enhanced', 'basic'] = 'enhanced', max_share: float | None = None,
    exclude: Columns = None, bin_width: Mapping[str, float] | None = None, series: Frame = None,
    key: Any = None, transparent: bool = False,
    transparent_by: Literal['groups', 'size'] = 'groups', ordered: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """A k-anonymous release by RAYDEN (Haruna et al. 2026): the classes are the leaves of a VP-
    tree, from which outliers are detected by COF and partitioned separately.

    As in every release: data, quasi, sensitive, identifiers, keep, exclude, k, l, l_kind, c, t,
    beta, beta_kind, delta, max_share, entity, format, seed, strata, weights, bin_width,
    ordered.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. Rows are suppressed
        only by unrecovered='suppress': 'drop' is refused if a class is * in every quasi-
        identifier for another reason.
    alpha: a row is an outlier if its COF exceeds the mean of its class by more than alpha
        standard deviations.
    vantage: how to choose the vantage point: 'random', 'max_spread' or 'farthest'.
    cut: where to cut: 'balanced', 'median' or 'aligned'.
    tries: number of vantage points tried for a median cut.
    repair: what to do if a class without its outliers has fewer than k rows: 'cap' keeps as
        many of them as needed, 'merge' merges the class into the nearest one.
    variant: definition of COF: 'rayden', 'tang' (the original) or 'pyod'.
    unrecovered: what to do with outliers that form no class of their own: 'return' them to
        their class, or 'suppress' them.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none. Columns in it are labelled by its nodes and have
        distance 0 or 1, even numeric ones.
    threshold: a row is an outlier if its COF exceeds this number; alpha then has no effect;
        None means the limit that alpha sets.
    series: state of a series that series_next has made of this table; the release then consists
        of its cohorts, the rows of former members included; without a key, that of the series
        is 'env:ANON_KEY'; None for none.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    transparent: true makes classes that tell no more than the constraints allow, even to an
        attacker who knows the method and all parameters except the key; no value has a share
        above 1/l.
    transparent_by: how: 'groups' divides rows into groups whose values can be exchanged; 'size'
        makes larger and larger classes without looking at values until all satisfy the
        constraints, so that they tell one number, but it bounds no share.
    Returns: the columns of the source without the identifiers; quasi-identifiers are
        generalized.
    Errors: a column without a role, no quasi-identifier, k above the number of rows, unknown
        columns or options.
    """


def sdka(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 2,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42,
    generator: Literal['ctgan', 'bootstrap'] = 'ctgan', epochs: int = 10, target_ratio: float = 2.0,
    dominant: float = 0.9, numbers: Literal['range', 'centre'] = 'range', hierarchy: Frame = None,
    beta: float | None = None, delta: float | None = None,
    beta_kind: Literal['enhanced', 'basic'] = 'enhanced', max_share: float | None = None,
    exclude: Columns = None, key: Any = None, ordered: Columns = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """A release by SDkA (Majeed and Hwang 2025), which adds rows: rare sensitive values get
    synthetic records, k-means clusters real and synthetic rows, and each class has k real rows
    and l real sensitive values. The method is perturbative; sdka_stats reports the number of
    added rows.

    As in every release: data, quasi, sensitive, identifiers, keep, exclude, l_kind, c, t, beta,
    beta_kind, delta, max_share, entity, seed, ordered.
    k: minimum number of rows in an equivalence class. Synthetic rows do not count.
    l: minimum diversity of each sensitive column in a class. Only real rows count, also for t,
        beta and delta.
    format: 'label' (text), 'typed' (structs and lists), or 'mean', 'median' or 'midpoint' (one
        value per class instead of a range of numbers, dates or times). 'mean' and 'median' are
        refused because the method adds rows.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. This function
        suppresses no rows on request: 'drop' is refused if a class is * in every quasi-
        identifier.
    generator: 'ctgan' (extra ctgan, under the Business Source License) or 'bootstrap', which
        mixes real rows.
    epochs: number of epochs for which CTGAN trains.
    target_ratio: synthetic records of a sensitive value are added until the most frequent value
        has at most this many times its rows.
    dominant: a value that all rows of a class share is shown only if at least this share of the
        real rows has it; a rarer value is generalized by at least one level of its hierarchy. 0
        shows every shared value.
    numbers: label of a number: 'range' of the real rows of the class, or 'centre', the value
        nearest to their mean, which most rows do not have.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none. Columns in it are labelled by its nodes.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    Returns: the columns of the source without the identifiers; quasi-identifiers are
        generalized. There are more rows than in the source. The release does not show which
        rows are synthetic; none equals a real row.
    Errors: a column without a role, no quasi-identifier, no sensitive column, k above the
        number of rows, an extra that is not installed (ml is always needed), too few records
        that differ from real rows, unknown columns or options.
    """


def top_down(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42, hierarchy: Frame = None,
    beta: float | None = None, delta: float | None = None, strata: Columns = None,
    weights: Weights = None, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    max_share: float | None = None, exclude: Columns = None,
    bin_width: Mapping[str, float] | None = None, series: Frame = None, key: Any = None,
    transparent: bool = False, transparent_by: Literal['groups', 'size'] = 'groups',
    ordered: Columns = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """A k-anonymous release by top-down greedy splitting (Xu et al. 2006): each row joins the side
    whose loss grows less. At worst the time grows with the square of the number of classes.

    As in every release: data, quasi, sensitive, identifiers, keep, exclude, k, l, l_kind, c, t,
    beta, beta_kind, delta, max_share, entity, format, seed, strata, weights, bin_width,
    ordered.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. This function
        suppresses no rows on request: 'drop' is refused if a class is * in every quasi-
        identifier.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none. Columns in it are labelled by its nodes.
    series: state of a series that series_next has made of this table; the release then consists
        of its cohorts, the rows of former members included; without a key, that of the series
        is 'env:ANON_KEY'; None for none.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    transparent: true makes classes that tell no more than the constraints allow, even to an
        attacker who knows the method and all parameters except the key; no value has a share
        above 1/l.
    transparent_by: how: 'groups' divides rows into groups whose values can be exchanged; 'size'
        makes larger and larger classes without looking at values until all satisfy the
        constraints, so that they tell one number, but it bounds no share.
    Returns: the columns of the source without the identifiers; quasi-identifiers are
        generalized.
    Errors: a column without a role, no quasi-identifier, k above the number of rows, unknown
        columns or options.
    """


def anon_methods(
    *, threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The release methods, each a function of that name.

    Returns: a row per method: name, what (a description), paper, doi (those of the papers, '; '
        between them; None for none), needs (requirements on the table; None for none), cost
        (growth of the time with n rows), perturbative (whether the release has rows that the
        table does not have).
    Errors: none.
    """


def compare(
    data: Frame, *, methods: Any = None, ks: Any = (5, 10, 25, 50, 100), quasi: Columns = None,
    sensitive: Columns = None, identifiers: Columns = None, keep: Columns = None,
    hierarchy: Frame = None, seed: int = 42, options: Any = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None, beta: float | None = None, delta: float | None = None,
    weights: Weights = None, strata: Columns = None,
    beta_kind: Literal['enhanced', 'basic'] = 'enhanced', max_share: float | None = None,
    exclude: Columns = None, bin_width: Mapping[str, float] | None = None, ordered: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The measures and the time of several methods on one table, side by side. The methods run one
    after another on one copy of the table, and nothing is released.

    data: the relation.
    methods: release methods to compare; None means all that fit the table and add no rows.
    ks: values of k to try.
    quasi: quasi-identifiers, the columns to generalize; None means the columns declared in
        comments.
    sensitive: columns whose values must not be disclosed; None means the columns declared in
        comments.
    identifiers: columns that identify a person; they are dropped; None means the columns
        declared in comments.
    keep: columns to release unchanged; keep=['*'] keeps every column that has no other role;
        None means the columns declared in comments.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none.
    seed: seed for random choices.
    options: parameters of individual methods, such as {'rayden': {'cut': 'aligned'}}; all
        others keep their defaults.
    l: minimum diversity of each sensitive column in a class.
    l_kind: kind of l-diversity: 'distinct', 'entropy' or 'recursive'.
    c: constant c of l_kind='recursive'.
    t: largest allowed distance of a sensitive column's distribution in a class from that in the
        table, 0…1.
    entity: column that identifies the person; k, l and t then count people instead of rows, and
        the column is dropped; None for none.
    beta: largest allowed relative increase of a sensitive value's share in a class over its
        share in the table, and never above -ln of the latter; None for none.
    delta: upper bound on |ln(share in a class / share in the table)| of every sensitive value;
        None for none.
    weights: importance of each quasi-identifier in the loss, such as weights={'age': 2, 'city':
        0.5}; columns left out have weight 1; None for none. They apply to gcp and to the
        methods that take weights.
    strata: quasi-identifiers that are not generalized; rows with different values are never in
        one class; None for none.
    beta_kind: 'enhanced', or 'basic' without the limit of -ln of the share in the table.
    max_share: largest allowed share of a sensitive value in a class, 0…1; missing values count
        as one value; None for none.
    exclude: columns to leave out that are not identifiers; None means the columns declared in
        comments.
    bin_width: width of the bins to which quasi-identifiers are cut before rows are grouped,
        such as bin_width={'age': 5}, in days for dates and in seconds for times; labels then
        show the ends of bins; None for none.
    ordered: quasi-identifiers and sensitive columns of type ENUM whose values have an order,
        that of the type; labels then are ranges such as [low, medium], and t uses the ordered
        distance; None for none.
    Returns: a row per method and k: method, k, seconds (spent in the method itself); rows,
        suppressed, classes, smallest_class, dm, dm_star, cavg, gcp, iloss, suppression_rate (as
        in utility); note (NULL, or the reason why there is no release and all measures are
        NULL).
    Errors: no quasi-identifier, unknown methods, columns or options, a value that its hierarchy
        lacks. A method that cannot run and an impossible k are notes.
    """


def lattice(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None, suppressed: Literal['keep', 'drop'] = 'keep',
    hierarchy: Frame = None, suppression_limit: float = 0,
    minimize: Literal['gcp', 'dm', 'height'] = 'gcp', beta: float | None = None,
    delta: float | None = None, strata: Columns = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label', seed: int = 42,
    beta_kind: Literal['enhanced', 'basic'] = 'enhanced', max_share: float | None = None,
    exclude: Columns = None, ordered: Columns = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The nodes of the generalization lattice that full_domain looks at: one row per combination
    of levels, with what it loses and whether it is legal.

    All arguments but like and bin_width as in full_domain: the same call lists the nodes of the
    same release. Columns without a role are ignored. Losses are those of the values that rows
    are grouped by, so that bin_width, which labels show, is not taken.
    Returns: levels (MAP of column to level, 0 for the values themselves), loss (GCP, 0…1, of
        the node with its suppressed rows), suppressed (rows), classes (that are not
        suppressed), legal, best (true for the node that full_domain releases). The levels are
        searched by halves, so that the rows are those nodes that it takes to be sure of the
        best one. suppressed of a node that is not legal counts what is known to be illegal.
    Errors: as in full_domain.
    """


def tradeoff(
    data: Frame, *, ks: Any = (2, 5, 10, 20, 50), ls: Any = (1, 2), method: Any = 'anonymize',
    quasi: Columns = None, sensitive: Columns = None, identifiers: Columns = None,
    keep: Columns = None, hierarchy: Frame = None, seed: int = 42, entity: str | None = None,
    queries: int = 50, options: Any = None, t: float = 1.0, beta: float | None = None,
    delta: float | None = None, weights: Weights = None, strata: Columns = None,
    beta_kind: Literal['enhanced', 'basic'] = 'enhanced', max_share: float | None = None,
    exclude: Columns = None, bin_width: Mapping[str, float] | None = None, ordered: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """What a release would lose, and what it would still disclose, for several k and l: choose k
    and l by these figures before you release anything. The releases are made one after another
    on one copy of the table, and nothing is released.

    data: the relation.
    ks: values of k to try.
    ls: values of l (distinct values of each sensitive column in a class) to try; an l above 1
        needs a sensitive column.
    method: release method.
    quasi: quasi-identifiers, the columns to generalize; None means the columns declared in
        comments.
    sensitive: columns whose values must not be disclosed; None means the columns declared in
        comments.
    identifiers: columns that identify a person; they are dropped; None means the columns
        declared in comments.
    keep: columns to release unchanged; keep=['*'] keeps every column that has no other role;
        None means the columns declared in comments.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none.
    seed: seed for random choices. It also draws the queries.
    entity: column that identifies the person; k, l and t then count people instead of rows, and
        the column is dropped; None for none.
    queries: number of random queries, drawn as by query_workload: ranges and sets over two
        quasi-identifiers that match 5 % of the rows.
    options: parameters of the method, such as {'anonymize': {'effort': 'fast'}}; all others
        keep their defaults.
    t: largest allowed distance of a sensitive column's distribution in a class from that in the
        table, 0…1.
    beta: largest allowed relative increase of a sensitive value's share in a class over its
        share in the table, and never above -ln of the latter; None for none.
    delta: upper bound on |ln(share in a class / share in the table)| of every sensitive value;
        None for none.
    weights: importance of each quasi-identifier in the loss, such as weights={'age': 2, 'city':
        0.5}; columns left out have weight 1; None for none. They apply to gcp and to the
        methods that take weights.
    strata: quasi-identifiers that are not generalized; rows with different values are never in
        one class; None for none.
    beta_kind: 'enhanced', or 'basic' without the limit of -ln of the share in the table.
    max_share: largest allowed share of a sensitive value in a class, 0…1; missing values count
        as one value; None for none.
    exclude: columns to leave out that are not identifiers; None means the columns declared in
        comments.
    bin_width: width of the bins to which quasi-identifiers are cut before rows are grouped,
        such as bin_width={'age': 5}, in days for dates and in seconds for times; labels then
        show the ends of bins; None for none.
    ordered: quasi-identifiers and sensitive columns of type ENUM whose values have an order,
        that of the type; labels then are ranges such as [low, medium], and t uses the ordered
        distance; None for none.
    Returns: a row per k and l: k, l; gcp (information loss, 0…1), classes, smallest_class,
        suppressed (rows), as in utility; query_error (mean of relative_error, as in
        workload_error); largest_share (of the most frequent sensitive value in the rows of a
        class that have a value, in the worst class; 1 where a class discloses it),
        exposed_share (share of classes with a single sensitive value, class_share of
        attack_homogeneity), both of the worst sensitive column and NULL without one;
        lost_columns (quasi-identifiers whose ncp is above .9, as in attribute_loss); seconds
        (spent in the method itself); note (NULL, or the reason why there is no release and the
        measures are NULL).
    Errors: no quasi-identifier, an unknown method, columns or options, a value that its
        hierarchy lacks. A method that cannot run, an impossible k or l and an l that the table
        does not have are notes.
    """


def anonymize_stats(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None, suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42,
    effort: Literal['good', 'fast', 'best'] = 'good', time_limit: float = 30,
    rounds: int | None = None, hierarchy: Frame = None, beta: float | None = None,
    delta: float | None = None, strata: Columns = None, weights: Weights = None,
    suppression_limit: float | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    beta_kind: Literal['enhanced', 'basic'] = 'enhanced', max_share: float | None = None,
    exclude: Columns = None, key: Any = None, ordered: Columns = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The rows that anonymize suppresses on a table, why, and what that saves; counts and losses
    only.

    All arguments but bin_width as in anonymize: the same call reports on the same release,
    unless a time_limit ends a search. Losses are those of the values that rows are grouped by,
    so that bin_width, which labels show, is not taken.
    Returns: one row: rows, allowed (rows that suppression_limit lets be suppressed), costly
        (rows that cost their class more than a suppressed row loses, before any is suppressed),
        suppressed (rows that are * in every quasi-identifier, shown or left out),
        suppression_rate (0…1), gcp_without and gcp (the loss of all rows without and with
        suppression, by the weights of the columns, a suppressed row losing 1), saved (their
        difference), gcp_of_rest (of the rows that are not suppressed), refused (partitions that
        lost less, but whose suppressed rows are not a legal class), classes (without the
        suppressed rows), reason (why these rows, or why none).
    Errors: as in anonymize.
    """


def cof_score(
    data: Frame, k: int = 5, *, quasi: Columns = None, classes: str | None = 'class_id',
    alpha: float = 2.0, variant: Literal['rayden', 'tang', 'pyod'] = 'rayden',
    hierarchy: Frame = None, threshold: float | None = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The connectivity-based outlier factor (COF) of each row within its class, and whether the
    row is an outlier.

    data: the relation.
    k: minimum number of rows in an equivalence class. Here it is also the number of neighbours.
    quasi: quasi-identifiers, the columns to generalize; None means the columns declared in
        comments.
    classes: column of class ids; a row without one is in no class. Such a row has no score.
    alpha: a row is an outlier if its COF exceeds the mean of its class by more than alpha
        standard deviations.
    variant: definition of COF: 'rayden', 'tang' (the original) or 'pyod'.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none.
    threshold: a row is an outlier if its COF exceeds this number; alpha then has no effect;
        None means the limit that alpha sets.
    Returns: the columns of the source, cof DOUBLE and outlier BOOLEAN. The result is not a
        release.
    Errors: no quasi-identifier, no such column of classes, a column called cof or outlier.
    """


def data_quality(
    data: Frame, *, identifiers: Columns = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """The faults of a table before it is anonymized, as in the second step of SDkA (Majeed and
    Hwang 2025; the rules are this project's own). Faults are counted, nothing is repaired, and
    no value is shown.

    data: the relation.
    identifiers: columns, in addition to those declared, that the search for duplicates ignores.
    Returns: a row per column and fault that was found: column_name (None for whole rows),
        fault, rows, share (of the table). fault is 'missing' (NULL), 'placeholder' (text for an
        unknown value: blank, ?, -, ., NA, N/A, NaN, NULL), 'not finite' (NaN, infinity),
        'outlier' (a number, date or time more than 1.5 times the interquartile range below the
        first or above the third quartile; none if that range is 0), 'spelling' (rows that do
        not have the most frequent spelling of a text whose spellings differ in case or blanks)
        or 'duplicate' (rows that repeat another one in all columns but identifiers). No row: no
        fault was found.
    Errors: an unknown tag, two roles for one column, an identifier that the table lacks.
    """


def dop_stats(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None, suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42,
    eps: float | None = None, min_samples: int | None = None, loss: Literal['lil', 'ncp'] = 'lil',
    noise: Literal['class', 'split', 'suppress'] = 'class', hierarchy: Frame = None,
    beta: float | None = None, delta: float | None = None, weights: Weights = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    strata: Columns = None, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    max_share: float | None = None, exclude: Columns = None,
    bin_width: Mapping[str, float] | None = None, key: Any = None, ordered: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The clusters, the noise and the number of cuts of DOP on a table.

    All arguments as in dop: the same call reports on the same release.
    Returns: one row: eps and min_samples as given or chosen, clusters and noise (rows) as found
        by DBSCAN, joined (clusters that were illegal and were merged into another), splits
        (cuts made), suppressed (rows that are * in every quasi-identifier, shown or left out),
        suppression_rate (0…1), classes (without the suppressed rows).
    Errors: as in dop.
    """


def generalize(
    data: Frame, k: int = 5, *, quasi: Columns = None, classes: str | None = 'class_id',
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    sensitive: Columns = None, identifiers: Columns = None, keep: Columns = None,
    suppressed: Literal['keep', 'drop'] = 'keep', l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None, hierarchy: Frame = None, beta: float | None = None,
    delta: float | None = None, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    max_share: float | None = None, exclude: Columns = None,
    bin_width: Mapping[str, float] | None = None, ordered: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """A release from your own column of classes, labelled and checked like every release.

    data: the relation.
    k: minimum number of rows in an equivalence class.
    quasi: quasi-identifiers, the columns to generalize; None means the columns declared in
        comments.
    classes: column of class ids; a row without one is in no class.
    format: 'label' (text), 'typed' (structs and lists), or 'mean', 'median' or 'midpoint' (one
        value per class instead of a range of numbers, dates or times).
    sensitive: columns whose values must not be disclosed; None means the columns declared in
        comments.
    identifiers: columns that identify a person; they are dropped; None means the columns
        declared in comments.
    keep: columns to release unchanged; keep=['*'] keeps every column that has no other role;
        None means the columns declared in comments.
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. Rows without a class
        id are suppressed: 'drop' is refused if a class is * in every quasi-identifier for
        another reason.
    l: minimum diversity of each sensitive column in a class.
    l_kind: kind of l-diversity: 'distinct', 'entropy' or 'recursive'.
    c: constant c of l_kind='recursive'.
    t: largest allowed distance of a sensitive column's distribution in a class from that in the
        table, 0…1.
    entity: column that identifies the person; k, l and t then count people instead of rows, and
        the column is dropped; None for none.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none. Columns in it are labelled by its nodes.
    beta: largest allowed relative increase of a sensitive value's share in a class over its
        share in the table, and never above -ln of the latter; None for none.
    delta: upper bound on |ln(share in a class / share in the table)| of every sensitive value;
        None for none.
    beta_kind: 'enhanced', or 'basic' without the limit of -ln of the share in the table.
    max_share: largest allowed share of a sensitive value in a class, 0…1; missing values count
        as one value; None for none.
    exclude: columns to leave out that are not identifiers; None means the columns declared in
        comments.
    bin_width: width of the bins to which quasi-identifiers are cut before rows are grouped,
        such as bin_width={'age': 5}, in days for dates and in seconds for times; labels then
        show the ends of bins; None for none.
    ordered: quasi-identifiers and sensitive columns of type ENUM whose values have an order,
        that of the type; labels then are ranges such as [low, medium], and t uses the ordered
        distance; None for none.
    Returns: the columns of the source without the identifiers, the classes, cof and outlier;
        quasi-identifiers are generalized.
    Errors: a class of fewer than k rows, no such column of classes.
    """


def gower_ranges(
    data: Frame, *, quasi: Columns = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Any:
    """The range of each numeric quasi-identifier, for gower().

    data: the relation.
    quasi: quasi-identifiers, the columns to generalize; None means the columns declared in
        comments.
    Returns: MAP(VARCHAR, DOUBLE) by column name: largest less smallest value (days for a date,
        microseconds for a time or timestamp), None for text.
    Errors: no quasi-identifier, a column that is neither number, date, time nor text.
    """


def imbalance(
    data: Frame, *, sensitive: Columns = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """The imbalance ratio of each value of the sensitive columns (Majeed and Hwang 2025, equation
    1): the rows of the most frequent value divided by those of the value. The result holds
    sensitive values and their counts in the whole table; it is for people who may see the
    table, and is not a release.

    data: the relation.
    sensitive: sensitive column or list of columns, in addition to those declared.
    Returns: a row per sensitive column and value, the most frequent first: attribute, value (as
        text), rows, ratio (1 or more; None for NULL, which is not a value).
    Errors: no sensitive column, one that the table lacks, an unknown tag.
    """


def mondrian_cof_stats(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, suppressed: Literal['keep', 'drop'] = 'keep',
    seed: int = 42, alpha: float = 2.0, partitioning: Literal['strict', 'relaxed'] = 'strict',
    repair: Literal['cap', 'merge'] = 'cap', unrecovered: Literal['return', 'suppress'] = 'return',
    distance: Literal['gower', 'codes'] = 'gower', hierarchy: Frame = None,
    threshold: float | None = None, weights: Weights = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    beta: float | None = None, delta: float | None = None, entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    strata: Columns = None, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    max_share: float | None = None, exclude: Columns = None,
    bin_width: Mapping[str, float] | None = None, key: Any = None, ordered: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The number of outliers that M-COF detects, recovers and returns on a table.

    All arguments as in mondrian_cof: the same call reports on the same release.
    Returns: one row: partitions, detected, recovered, returned, suppressed (rows that are * in
        every quasi-identifier, shown or left out), orr (recovered share of the detected, NULL
        if there are none), suppression_rate (0…1), classes (without the suppressed rows).
    Errors: as in mondrian_cof.
    """


def mondrian_partition(
    data: Frame, k: int = 5, *, quasi: Columns = None,
    partitioning: Literal['strict', 'relaxed'] = 'strict',
    columns: Literal['any', 'widest'] = 'any', hierarchy: Frame = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The classes of Mondrian as an additional column: the first step of mondrian_cof.

    data: the relation.
    k: minimum number of rows in an equivalence class.
    quasi: quasi-identifiers, the columns to generalize; None means the columns declared in
        comments.
    partitioning: 'strict' keeps equal values together; 'relaxed' makes classes of k to 2k - 1
        rows.
    columns: 'any' tries the next widest column if the widest cannot be cut; 'widest' does not.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none.
    Returns: the columns of the source, identifiers included, and class_id INTEGER. The result
        is not a release.
    Errors: no quasi-identifier, k above the number of rows, a column called class_id.
    """


def rayden_stats(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, suppressed: Literal['keep', 'drop'] = 'keep',
    seed: int = 42, alpha: float = 2.0,
    vantage: Literal['random', 'max_spread', 'farthest'] = 'random',
    cut: Literal['balanced', 'median', 'aligned'] = 'balanced', tries: int = 8,
    repair: Literal['cap', 'merge'] = 'cap', variant: Literal['rayden', 'tang', 'pyod'] = 'rayden',
    unrecovered: Literal['return', 'suppress'] = 'return', hierarchy: Frame = None,
    threshold: float | None = None, weights: Weights = None, l: float = 1,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    beta: float | None = None, delta: float | None = None, entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    strata: Columns = None, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    max_share: float | None = None, exclude: Columns = None,
    bin_width: Mapping[str, float] | None = None, key: Any = None, ordered: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The number of outliers that RAYDEN detects, recovers and returns on a table.

    All arguments as in rayden: the same call reports on the same release.
    Returns: one row: partitions, detected, recovered, returned, suppressed (rows that are * in
        every quasi-identifier, shown or left out), orr (recovered share of the detected, NULL
        if there are none), suppression_rate (0…1), classes (without the suppressed rows).
    Errors: as in rayden.
    """


def sdka_stats(
    data: Frame, k: int = 5, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, l: float = 2,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    entity: str | None = None, seed: int = 42, generator: Literal['ctgan', 'bootstrap'] = 'ctgan',
    epochs: int = 10, target_ratio: float = 2.0, dominant: float = 0.9,
    numbers: Literal['range', 'centre'] = 'range', hierarchy: Frame = None,
    beta: float | None = None, delta: float | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep',
    beta_kind: Literal['enhanced', 'basic'] = 'enhanced', max_share: float | None = None,
    exclude: Columns = None, key: Any = None, ordered: Columns = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The synthetic rows and the classes of SDkA on a table. A release must not show which rows
    are synthetic, so these figures are for people who may see the table: `added` shows
    sensitive values, and it weakens the protection of the others.

    All arguments as in sdka: the same call reports on the same release.
    Returns: one row: real_rows, synthetic_rows, added (attribute, value as text and rows of
        each sensitive value among the synthetic rows), clusters (of k-means), merged (clusters
        that were merged into another), classes (of labels), smallest_class (real rows), iloss
        (Byun et al. 2007: the sum over rows and quasi-identifiers, each 0…1), gcp (0…1), both
        from the values of the real rows for any `numbers`.
    Errors: as in sdka.
    """


def vp_partition(
    data: Frame, k: int = 5, *, quasi: Columns = None,
    vantage: Literal['random', 'max_spread', 'farthest'] = 'random',
    cut: Literal['balanced', 'median', 'aligned'] = 'balanced', tries: int = 8, seed: int = 42,
    hierarchy: Frame = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """The classes of a VP-tree under Gower distance, as an additional column: the first step of
    RAYDEN.

    data: the relation.
    k: minimum number of rows in an equivalence class.
    quasi: quasi-identifiers, the columns to generalize; None means the columns declared in
        comments.
    vantage: how to choose the vantage point: 'random', 'max_spread' or 'farthest'.
    cut: where to cut: 'balanced', 'median' or 'aligned'.
    tries: number of vantage points tried for a median cut.
    seed: seed for random choices.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none.
    Returns: the columns of the source, identifiers included, and class_id INTEGER. The result
        is not a release.
    Errors: no quasi-identifier, k above the number of rows, a column called class_id.
    """


def attribute_loss(
    raw: Frame, released: Frame, *, quasi: Columns = None, hierarchy: Frame = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The information loss of each quasi-identifier: its mean NCP over all rows.

    raw: name of the raw table.
    released: name of its release, in any format.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: a row per quasi-identifier, in the order declared: attribute, ncp (0…1, None for an
        empty raw table and for means and medians). The mean of ncp is the gcp of the table.
    Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw
        and release swapped.
    """


def cavg(
    raw: Frame, released: Frame, *, k: int = 5, quasi: Columns = None, hierarchy: Frame = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> float | None:
    """The average size of an equivalence class as a multiple of k; the minimum is 1. Suppressed
    rows are not counted.

    raw: name of the raw table.
    released: name of its release, in any format.
    k: the k of the release, by which cavg divides.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: DOUBLE; NULL if all rows are suppressed.
    Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw
        and release swapped, k below 1.
    """


def classification(
    raw: Frame, released: Frame, *, target: str | None = 'income',
    model: Literal['random_forest', 'knn', 'svm', 'naive_bayes'] = 'random_forest',
    positive: Any = None, held_out: float = 0.3, seed: int = 42,
    baseline: Literal['raw', 'none'] = 'raw', quasi: Columns = None, hierarchy: Frame = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The accuracy of a classifier trained on the raw table and of one trained on the release,
    each tested on rows that were held out of its own training.

    raw: name of the raw table.
    released: name of its release, in label or typed format.
    target: column to predict from the quasi-identifiers; the release keeps it.
    model: classifier of scikit-learn (extra `ml`): 'random_forest', 'knn', 'svm' or
        'naive_bayes'.
    positive: the value whose f_measure is computed; None means the rarest.
    held_out: share of the rows held out for testing.
    seed: seed for the split and the model.
    baseline: 'raw' trains on the raw table too; 'none' skips it.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: one or two rows: data ('raw' or 'released'), accuracy, f_measure (2 TP / (2 TP + FP
        + FN)), trained, tested (rows). The same number of rows of each value of target is held
        out of both tables; rows that a release leaves out are missing from it. A release may
        have more rows than the raw table.
    Errors: no scikit-learn, no such target or model, a target with fewer than two values, a
        call that other measures refuse.
    """


def dm(
    raw: Frame, released: Frame, *, quasi: Columns = None, hierarchy: Frame = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> int | None:
    """The discernibility metric: the sum of the squared sizes of the equivalence classes. A row
    counts the size of its class; suppressed rows, shown as * or left out of the release, are
    one class.

    raw: name of the raw table.
    released: name of its release, in any format.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: BIGINT; the number of rows at best, its square at worst.
    Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw
        and release swapped.
    """


def dm_star(
    raw: Frame, released: Frame, *, quasi: Columns = None, hierarchy: Frame = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> int | None:
    """The discernibility metric with the penalty of Bayardo and Agrawal (2005): a row counts the
    size of its class; a suppressed row, shown as * or left out of the release, counts the size
    of the raw table.

    raw: name of the raw table.
    released: name of its release, in any format.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: BIGINT; the number of rows at best, its square at worst.
    Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw
        and release swapped.
    """


def equivalence_classes(
    raw: Frame, released: Frame, *, quasi: Columns = None, sensitive: Columns = None,
    hierarchy: Frame = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """The equivalence classes of a release: labels, size, loss, and number of sensitive values.

    raw: name of the raw table.
    released: name of its release, in any format.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    sensitive: sensitive column or list of columns, in addition to those declared.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: a row per class: the quasi-identifiers as in the release, size (rows), ncp (mean
        over the quasi-identifiers, 0…1; NULL if one shows means or medians), distinct_<name>
        (number of distinct values of each sensitive column, without NULL). Rows shown as * are
        a class; rows left out of the release have no labels and are not listed.
    Errors: no quasi-identifier, one that the release lacks or that has the name of a column of
        the result, a label that cannot be read, raw and release swapped.
    """


def gcp(
    raw: Frame, released: Frame, *, ncp: Literal['share', 'dop'] = 'share', quasi: Columns = None,
    hierarchy: Frame = None, weights: Weights = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> float | None:
    """Global certainty penalty: the mean NCP over all rows and quasi-identifiers, which is the
    share of information lost. The NCP of a number or date is the range of its label / the range
    in the raw table. The NCP of text is 0 for one value. Otherwise it is the number of values
    in its label / the number of values in the raw table, where NULL counts as a value. A
    suppressed value has an NCP of 1, a label of NULLs only an NCP of 0.

    raw: name of the raw table.
    released: name of its release, in any format.
    ncp: loss of text: 'share', or 'dop' for (values - 1) / (values in the raw table - 1).
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    weights: importance of each quasi-identifier in gcp, such as weights={'age': 2, 'city':
        0.5}; columns left out have weight 1.
    Returns: DOUBLE, 0…1; None for an empty raw table, for a release with more rows than its raw
        table, in which added rows cannot be distinguished (use sdka_stats), and for one of
        means or medians (use value_loss).
    Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw
        and release swapped, an unknown ncp, weights that are not numbers of quasi-identifiers.
    """


def iloss(
    raw: Frame, released: Frame, *, quasi: Columns = None, hierarchy: Frame = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> float | None:
    """Information loss of Byun et al. (2007): the width of the labels, summed over all rows and
    quasi-identifiers. A number or date loses the range of its label / the range in the raw
    table. Text loses 0 for one value and 1 for several; with a hierarchy, the height of its
    node / the height of the hierarchy. A suppressed value loses 1, a label of NULLs only loses
    0.

    raw: name of the raw table.
    released: name of its release, in any format.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: DOUBLE, 0 to rows * quasi-identifiers; None for a release with more rows than its
        raw table, in which added rows cannot be distinguished (use sdka_stats), and for one of
        means or medians (use value_loss).
    Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw
        and release swapped.
    """


def paper_queries(
    paper: str, *, threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Any:
    """The queries by which a paper measures releases of Adult, for query_error with
    mode='literal'.

    paper: 'm_cof', Q1 to Q4 of Kara and Eyüpoğlu 2023 (M-COF), section 4.2.4; the Age_Min of
        the paper is the minimum age of a label, as in mode 'literal'.
    Returns: VARCHAR[], queries on the columns workclass, age, race and native_country of `raw`.
    Errors: an unknown paper.
    """


def query_error(
    raw: Frame, released: Frame, queries: str | Sequence[str], *,
    mode: Literal['estimate', 'literal'] = 'estimate', quasi: Columns = None,
    hierarchy: Frame = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """The answers of a release to given queries: the true answer, an estimate, and the bounds
    between which the true answer must lie.

    raw: name of the raw table.
    released: name of its release, in label or typed format.
    queries: a list of texts, each one SELECT of count(*), count, sum, avg, min or max FROM the
        raw table, named as in the call or `raw`, optionally with WHERE and GROUP BY.
    mode: 'estimate', or 'literal', which runs the query unchanged on the minimum of each label.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: a row per query and group: query, group (a map, NULL without GROUP BY), actual,
        estimate, lower, upper (NULL if unknown, and in mode 'literal'), relative_error (|actual
        - estimate| / |actual|, NULL if actual is 0 or NULL), absolute_error.
    Errors: a query that is not one SELECT over the raw table alone or has another clause than
        WHERE and GROUP BY; a call that other measures refuse.
    """


def query_workload(
    data: Frame, *, n: int = 1000, attributes: int = 2, selectivity: float = 0.05, seed: int = 42,
    quasi: Columns = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """Random range and set queries, each of which matches about the given share of the rows of a
    table.

    data: the table.
    n: number of queries.
    attributes: number of quasi-identifiers in each query.
    selectivity: target share of matching rows, above 0 and at most 1.
    seed: seed for random choices.
    quasi: the quasi-identifiers; None means the columns declared in comments.
    Returns: n rows: query (a count over `raw`, for query_error), selectivity (the actual share
        of matching rows).
    Errors: no quasi-identifier, more attributes than quasi-identifiers, an empty table.
    """


def rewrite_query(
    sql: str, raw: Frame, released: Frame, *, mode: Literal['estimate', 'literal'] = 'estimate',
    quasi: Columns = None, hierarchy: Frame = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> str:
    """The SQL that query_error runs for a query, as text.

    sql: one SELECT, as in query_error.
    raw: name of the raw table.
    released: name of its release.
    mode: 'estimate', or 'literal', which runs the query unchanged on the minimum of each label.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: VARCHAR, one statement with the result of query_error for the query.
    Errors: a query that query_error refuses.
    """


def suppression_rate(
    raw: Frame, released: Frame, *, quasi: Columns = None, hierarchy: Frame = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> float | None:
    """The share of the raw table's rows that are suppressed: shown as * in every quasi-identifier,
    or left out of the release.

    raw: name of the raw table.
    released: name of its release, in any format.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: DOUBLE, 0…1; None for an empty raw table.
    Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw
        and release swapped.
    """


def utility(
    raw: Frame, released: Frame, *, k: int = 5, quasi: Columns = None, hierarchy: Frame = None,
    weights: Weights = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """The measures of a release in one row: rows, classes and information loss.

    raw: name of the raw table.
    released: name of its release, in any format.
    k: the k of the release, by which cavg divides.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    weights: importance of each quasi-identifier in gcp, such as weights={'age': 2, 'city':
        0.5}; columns left out have weight 1.
    Returns: one row: rows (of the raw table), released_rows, suppressed (rows shown as * or
        left out), classes (without the suppressed rows), smallest_class (with the suppressed
        rows as one class, as in k_anonymity), dm, dm_star, cavg, gcp, iloss, suppression_rate,
        each as in the function of that name.
    Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw
        and release swapped, k below 1.
    """


def value_loss(
    raw: Frame, released: Frame, *, id: str | None = None, quasi: Columns = None,
    format: Literal['mean', 'median', 'midpoint'] | None = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """What a release with format='mean' or 'median' loses: for each column of numbers, dates or
    times the share of its variance that lies within classes (SSE / SST), and the mean distance
    between a value and its replacement (IL1s of Mateo-Sanz et al. 2005, as in sdcMicro). The
    literature's figure for a table, of standardized columns, is avg(sse_sst).

    raw: name of the raw table.
    released: name of its release.
    id: kept column that identifies the rows of both relations, so that each row is compared
        with its own replacement; None for none: il1s is NULL, and so is sse_sst unless format
        is 'mean'.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    format: the format that the release was made with. Without id, sse_sst follows from means
        alone; it is None for other formats, for columns with NULLs or suppressed rows, and if
        the values cannot be means; None means unknown.
    Returns: a row per quasi-identifier of numbers, dates or times, in the order declared:
        attribute, sse_sst (0…1 for means; medians can exceed 1; None for a constant column),
        il1s (in units of sqrt(2) standard deviations). A suppressed value counts as replaced by
        the mean of the column; a NULL of the raw table does not count.
    Errors: no quasi-identifier, one that the release lacks or shows as labels, an id that does
        not identify rows or that the raw table lacks, raw and release swapped.
    """


def workload_error(
    raw: Frame, released: Frame, queries: str | Sequence[str], *,
    mode: Literal['estimate', 'literal'] = 'estimate', quasi: Columns = None,
    hierarchy: Frame = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """The error of a release over many queries: a summary of query_error.

    raw: name of the raw table.
    released: name of its release, in label or typed format.
    queries: a list as in query_error, for example a variable that holds a query_workload.
    mode: 'estimate', or 'literal', which runs the query unchanged on the minimum of each label.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: one row: answers (rows of query_error), mean, median, percentile_90 of
        relative_error (if actual is not 0), coverage (share of answers with lower <= actual <=
        upper, 1 for every release of this package; NULL in mode 'literal'), width (median of
        (upper - lower) / actual).
    Errors: those of query_error.
    """


def anon_manifest(
    raw: Frame, released: Frame, *, method: Any = None, k: int | None = None,
    l: float | None = None, t: float | None = None,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3,
    entity: str | None = None, seed: Any = None, options: Any = None, quasi: Columns = None,
    sensitive: Columns = None, identifiers: Columns = None, keep: Columns = None,
    hierarchy: Frame = None, suppressed: Literal['keep', 'drop'] = 'keep', unique_share: float = 0,
    beta: float | None = None, delta: float | None = None, purpose: Any = None,
    recipient: Any = None, assumptions: Any = None, previous: Frame = None,
    previous_share: float = 0, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    max_share: float | None = None, exclude: Columns = None, series: Frame = None,
    key: Any = 'env:ANON_KEY', unit: Literal['person', 'row'] = 'person', ordered: Columns = None,
    environment: Any = None, review_by: Any = None, review: Any = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The manifest of a release, for its recipients: how it was made and what it achieves. It
    holds names of columns, parameters and measures, and a hash of the names and types of the
    raw table's columns. It holds no value, no minimum or maximum, and no path.

    Requirements, roles and earlier releases are as in audit.
    raw: name of the raw table.
    released: name of its release, in any format.
    method: method of the release, recorded as given.
    seed: seed of the release, recorded as given.
    options: other parameters of the release, recorded as given; weighted_gcp uses the weights
        among them, such as {'weights': MAP {'age': 2}}.
    purpose: purpose of the release, a text.
    recipient: recipient of the release, a text.
    assumptions: list of assumptions about what recipients know and may do; None for none.
    environment: where the recipient has the release: 'public', 'contract' (bound by an
        agreement) or 'secure' (a secure room); None means not stated.
    review_by: date by which the release is looked at again; None for none.
    review: list of what must be looked at again by then; None for none.
    Returns: one row of numbers, texts, lists and structs: manifest (1, the version of the
        format), statement (purpose, recipient, environment, assumptions, review_by, review),
        versions (of anon_sql, DuckDB and the row hash), method, parameters, roles (names by
        role; columns in without_role are kept unchanged), raw, achieved (k, l, t, beta, delta
        and the levels of all other privacy models), series (previous: name and rows_sha256, as
        in a ledger, of each earlier release, previous_share, and cohorts: of a release of a
        series its number, l, rows of former members and people who wait, and the largest share
        of a group of like people that waits; else NULL), checks (property, required, found,
        passed, as in audit), measures (as in utility, and weighted_gcp, the gcp by the weights
        of the release; NULL without), loss (as in attribute_loss). Measures and loss of a
        release of a series are of its own rows alone. COPY writes it as JSON.
    Errors: those of audit and utility.
    """


def audit(
    raw: Frame, released: Frame, *, k: int | None = None, l: float | None = None,
    t: float | None = None, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3,
    hierarchy: Frame = None, entity: str | None = None,
    suppressed: Literal['keep', 'drop'] = 'keep', synthetic: int = 0, unique_share: float = 0,
    beta: float | None = None, delta: float | None = None, previous: Frame = None,
    previous_share: float = 0, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    max_share: float | None = None, exclude: Columns = None, series: Frame = None,
    key: Any = 'env:ANON_KEY', unit: Literal['person', 'row'] = 'person', ordered: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """Checks a release against its raw table, one row per property. passed is NULL if the property
    cannot be decided. 'rows': the release has as many rows as the raw table; NULL with
    suppressed='drop' if rows are missing, because suppressed rows cannot be distinguished from
    lost ones. 'k', 'l', 't' and the levels of all other privacy models: those of the worst
    class, as in k_anonymity, l_diversity, t_closeness and so on. l and t are not measured if
    they are NULL, and the others, except k, are left out. 'people': the smallest number of
    people in a class, by identifiers that have several rows: those that are passed or declared,
    and those that suggest_roles would name by the first 2,000 rows. Names, addresses and texts
    count only if most rows with one value are alike in all quasi-identifiers, since different
    people may share them. A kept column counts if its values and the combinations of quasi-
    identifiers mostly tell each other. NULLs are one person. If the release lacks the
    identifier, the number is a bound from below. It is NULL if nothing is counted: no
    identifier repeats, entity names one, or unit is 'row'. 'suppressed_rows': none, or at least
    k, shown as * or left out. 'kept_values': released rows whose values beside the labels match
    no remaining raw row; all rows if the release lacks a column with the role keep.
    'true_labels': released rows whose labels cover no raw row with the same kept values.
    'covered_rows': raw rows that no released row covers, except those left out. Both are
    necessary conditions. 'matched_rows', a sufficient condition: released rows without a raw
    row of their own in a maximum matching. All three are NULL if so many rows share their kept
    values that more than 5,000 million comparisons of labels with rows would be needed;
    'matched_rows' also if it takes too many steps. 'label_spelling': labels that cannot be
    read, cover no value of the raw column, or are written differently from a release. An end
    may also be written in its shortest form: 43 for 43.0, a date for a timestamp at midnight.
    'wider_labels': labels that cover values of the raw column but do not end at any of them, or
    that name a text that the column lacks. They are true if they cover their rows: NULL. A mean
    or median says nothing about a single row: as a label it covers every value except NULL if
    it lies between the smallest and the largest raw value, and NULL covers any value.
    value_loss compares it with the rows. 'unique_range_ends': ends of ranges that only a single
    raw row has. Ranges end at real values, so there may be some: NULL. Its meaning names the
    columns of which more than 5 % of the rows show a single value, which bin_width of a release
    function hides. 'added_columns': columns that the raw table lacks. 'identifiers': declared
    identifiers; NULL if none is declared. 'identifying_columns': columns without a role in
    which nine values in ten differ. 'row_numbers': columns of consecutive whole numbers, and
    columns without a role that ascend in the raw table. 'identifying_combinations': share of
    rows that are unique on the kept columns together, without sensitive ones; the example names
    the columns that contribute most. 'rare_combinations', if there are any: share of rows whose
    kept values fewer than k rows have; of people if entity or an identifier that repeats tells
    them apart. NULL: what others know is not in the tables. 'determined_columns', if there are
    any: share of rows that stand out of their class by kept columns that quasi-identifiers
    determine, exactly or nearly, or that determine one. An attacker computes them, so that
    fewer than k rows of the class remain, or one sensitive value. The example names the
    columns: NULL. 'revealing_columns', if there are any: share of the errors that a reader who
    guesses a sensitive value avoids by a kept column that determines it, exactly or nearly:
    NULL. 'pseudonyms': columns whose values are all 64 hexadecimal digits, as anon_pseudonym
    makes them. People who have two releases with the same pseudonyms can join them. That may be
    intended: NULL. With previous, attacks on this and the earlier releases. Each is no bound:
    passing it is not being safe. l is at least 2 in them. 'intersection': share of people to
    whom the releases together leave fewer than l values of a sensitive column, by whole tuples
    of sensitive and kept columns, an exact count (see composition); of the worst column. They
    may be exposed wholly. 'joined', 'left': share of rows that counts expose by subtraction, of
    this and of an earlier release: in a union of classes that share persons, rows only came, or
    only went, and one value makes up more than 1 / l of these. 'joined_and_left': of unions
    where rows came and went, if one value makes up more than 1 / l of the fewest that can have
    come, or gone; how many did is in no file: NULL. 'cohort_l', the only bound: whether those
    who share a class in every release have l values. No file tells who they are: NULL. With
    series, of a release of a series. The properties of rows ('rows', 'kept_values',
    'true_labels', 'covered_rows', 'matched_rows') are NULL where former rows or people who wait
    can be why they fail. 'series': rows that can be of no cohort, cohorts that can be whole in
    no class, and classes that cannot have k people who are present. A class can hold a cohort
    whose present members its labels cover, with the people who wait for it, and all of whose
    values it shows. A necessary condition. 'cohort_l', then: share of people with a cohort who
    share it with people of whom the file cannot show l values, l of the series. 'waiting_rows':
    rows that fit no cohort, but fit a person of the raw table without a cohort. 'former_rows':
    rows that fit neither a cohort nor such a person. Those of former members belong to cohorts
    with somebody present. All four are NULL if there are too many people and classes to
    compare, or if the release has columns of other types than the series and 'series' would
    fail.

    raw: name of the raw table.
    released: name of its release, in any format.
    k: minimum number of rows in an equivalence class; None means that it is measured but not
        required.
    l: minimum diversity of each sensitive column in a class; None means not measured.
    t: largest allowed distance of a sensitive column's distribution in a class from that in the
        table, 0…1; None means not measured.
    quasi: quasi-identifiers, the columns that were generalized; None means the columns declared
        in comments on the raw table.
    sensitive: columns whose values must not be disclosed; None means the columns declared in
        comments on the raw table.
    identifiers: columns that identify a person; the release must not have them; None means the
        columns declared in comments on the raw table.
    keep: columns that were released unchanged; None means the columns declared in comments on
        the raw table.
    l_kind: kind of l-diversity: 'distinct', 'entropy' or 'recursive'.
    c: constant c of l_kind='recursive'.
    hierarchy: hierarchies that the release was made with; None for none.
    entity: column that identifies the person; the privacy models then count people. If the
        release lacks it, k is the smallest number of people to whom the rows of a class can
        belong. The other levels, except distinct l, are then NULL unless each row can belong to
        one person only; None for none.
    suppressed: 'keep' or 'drop', as in the release; with 'drop', missing rows are not a class.
    synthetic: number of rows that the method added; properties that do not apply to such a
        release are NULL.
    unique_share: largest allowed share of rows that are unique on the kept columns together,
        0…1.
    beta: largest allowed relative increase of a sensitive value's share in a class over its
        share in the table, and never above -ln of the latter; None means not measured.
    delta: upper bound on |ln(share in a class / share in the table)| of every sensitive value;
        None means not measured.
    previous: names of 1 to 11 earlier releases of people in the raw table; None for none.
    previous_share: largest allowed share of people that 'intersection' finds, and of rows that
        'joined' or 'left' does, 0…1.
    beta_kind: 'enhanced', or 'basic' without the limit of -ln of the share in the table.
    max_share: largest allowed share of a sensitive value in a class, 0…1; missing values count
        as one value; None means not measured.
    exclude: columns that were left out; the release must not have them; None means the columns
        declared in comments on the raw table.
    series: state of the series that the release belongs to, as series_next has made it of the
        raw table; None for none.
    key: secret key of the series, as in anon_pseudonym.
    unit: what must be protected: 'person', or 'row' if it is right that k counts rows although
        an identifier repeats.
    ordered: columns of type ENUM that the release had as ordered; t then uses the ordered
        distance; None for none.
    Returns: property, required, found (numbers), passed (BOOLEAN), example (labels, names of
        columns or counts), meaning (what was found, in a sentence with its figures; no value
        and no label).
    Errors: no quasi-identifier, one or a sensitive column that the release lacks, columns of
        other types than a release has, raw and release swapped, an l, t, beta or delta without
        a sensitive column, more rows than fit into memory; with previous, those of composition;
        with series, those of series_next, and a raw table that is not the one of the state.
    """


def beta_likeness(
    raw: Frame, released: Frame = None, *, sensitive: Columns = None, quasi: Columns = None,
    hierarchy: Frame = None, kind: str = 'enhanced', threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> float | None:
    """The β of a release: the smallest β for which it satisfies enhanced or basic β-likeness (Cao
    and Karras 2012). With p the share of a sensitive value in the raw table and q its share in
    a class, it is the largest (q - p) / p over all classes and values. No enhanced β allows a
    gain above -ln p: the result is then infinite. NULL is a value. Suppressed rows, shown as *,
    are a class; rows left out of the release publish no sensitive value and are not a class,
    but count in the raw table.

    raw: name of the raw table.
    released: name of its release, in any format. Without it, or if it names sensitive columns,
        the first table is measured as it is: its cells are values, not labels.
    sensitive: sensitive column or list of columns, in addition to those declared. The worst of
        several columns is returned.
    quasi: quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    kind: 'enhanced', or 'basic' without the limit -ln p.
    Returns: DOUBLE, 0 and above; infinity where a gain is above -ln p and kind is 'enhanced';
        None for an empty release.
    Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that
        cannot be read, raw and release swapped, sensitive values that the raw table lacks, an
        unknown kind.
    """


def delta_disclosure(
    raw: Frame, released: Frame = None, *, sensitive: Columns = None, quasi: Columns = None,
    hierarchy: Frame = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> float | None:
    """The δ of a release: the largest |ln(q / p)| over all classes and sensitive values, with p
    the share of the value in the raw table and q its share in the class (Brickell and Shmatikov
    2008). It is infinite where a class lacks a value of the raw table. δ-disclosure privacy
    requires that it is below δ. NULL is a value. Suppressed rows, shown as *, are a class; rows
    left out of the release publish no sensitive value and are not a class, but count in the raw
    table.

    raw: name of the raw table.
    released: name of its release, in any format. Without it, or if it names sensitive columns,
        the first table is measured as it is: its cells are values, not labels.
    sensitive: sensitive column or list of columns, in addition to those declared. The worst of
        several columns is returned.
    quasi: quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: DOUBLE, 0 and above; infinity where a class lacks a value; None for an empty
        release.
    Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that
        cannot be read, raw and release swapped, sensitive values that the raw table lacks.
    """


def k_anonymity(
    raw: Frame, released: Frame = None, *, quasi: Columns = None, hierarchy: Frame = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> int | None:
    """The k of a release: the number of rows in its smallest equivalence class, where a class is
    all rows with the same labels. Suppressed rows, shown as * or left out of the release, are
    one class.

    raw: name of the raw table.
    released: name of its release, in any format. Without it, the first table is measured as it
        is: its cells are values, not labels.
    quasi: quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: BIGINT, in rows; None for an empty release.
    Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw
        and release swapped.
    """


def l_diversity(
    raw: Frame, released: Frame = None, *, sensitive: Columns = None, kind: str = 'distinct',
    c: float = 3, quasi: Columns = None, hierarchy: Frame = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> float | None:
    """The l of a release: the diversity of the sensitive values in the least diverse class
    (Machanavajjhala et al. 2006). 'distinct' is the number of values; 'entropy' is exp(-sum p
    ln p), not rounded; 'recursive' is the largest l with r1 < c * (r_l + ... + r_v), where r
    are the counts of the values in descending order. NULL is not a value: a class of NULLs only
    has 0. Suppressed rows, shown as *, are a class; rows left out of the release publish no
    sensitive value and are not a class.

    raw: name of the raw table.
    released: name of its release, in any format. Without it, or if it names sensitive columns,
        the first table is measured as it is: its cells are values, not labels.
    sensitive: sensitive column or list of columns, in addition to those declared. Each column
        is measured by itself, and the worst is returned.
    kind: 'distinct', 'entropy' or 'recursive'.
    c: the constant of 'recursive'.
    quasi: quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: DOUBLE; a whole number except for 'entropy'; None for an empty release.
    Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that
        cannot be read, raw and release swapped, an unknown kind, a c that is not above 0.
    """


def max_share(
    raw: Frame, released: Frame = None, *, sensitive: Columns = None, quasi: Columns = None,
    hierarchy: Frame = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> float | None:
    """The largest share of one sensitive value in a class of a release. (α,k)-anonymity (Wong et
    al. 2006) requires that it is at most α, the parameter max_share of release functions. NULL
    is a value. Suppressed rows, shown as *, are a class; rows left out of the release publish
    no sensitive value and are not a class.

    raw: name of the raw table.
    released: name of its release, in any format. Without it, or if it names sensitive columns,
        the first table is measured as it is: its cells are values, not labels.
    sensitive: sensitive column or list of columns, in addition to those declared. The worst of
        several columns is returned.
    quasi: quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: DOUBLE, above 0 and at most 1; None for an empty release.
    Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that
        cannot be read, raw and release swapped, sensitive values that the raw table lacks.
    """


def risk(
    raw: Frame, released: Frame = None, *, population: Frame = None, threshold: float = 0.2,
    quasi: Columns = None, hierarchy: Frame = None, sampling_fraction: float | None = None,
    population_size: int | None = None, sampling_weights: str | None = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The risk of re-identification of the people in a release (El Emam and Dankar 2008; Dankar
    and El Emam 2010). Prosecutor risk assumes that the attacker knows that the person is in the
    table: 1 / f, where f is the number of rows with the same labels. Journalist risk does not
    assume this: 1 / F, where F is the number of rows of the population that the labels match.
    Marketer risk is the mean of 1 / F over the rows, (1 / n) * sum f / F over the classes. If
    the table is the whole population, pass it as population. Rows shown as * are one class
    together with the rows left out of the release, and match every person; rows left out are
    not published and are not counted as at risk. If the raw table is a random sample and the
    population is unknown, pass sampling_fraction or population_size, or the weights of the
    rows: 1 / F is then replaced by its expectation E(1 / F | f) (Benedetti and Franconi 1998),
    and the share of the population that is unique on the labels is estimated by three models:
    pitman (Hoshino 2001), zayatz (Zayatz 1991) and snb (Chen and McNulty 1998).
    population_unique is the one that the rule of Dankar et al. 2012 takes. Without any of these
    all but the prosecutor's risks are NULL.

    raw: name of the raw table.
    released: name of its release, in any format; with population in label or typed format.
        Without it, the first table is measured as it is: its cells are values, not labels.
    population: table of all people who could be in the raw table, including those who are, with
        the same quasi-identifiers. Its distinct rows are compared with all classes.
    threshold: a row is at risk if its risk exceeds this, 0…1.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    sampling_fraction: rows of the raw table divided by rows of the population, above 0 and at
        most 1.
    population_size: rows of the population.
    sampling_weights: column of the release that holds sampling weights: the number of people in
        the population for whom a row stands.
    Returns: one row: rows (of the release), prosecutor (the maximum, 0…1), prosecutor_mean
        (over the rows of the release; classes / rows if none is suppressed), prosecutor_at_risk
        (rows above the threshold), journalist (the maximum), journalist_at_risk, marketer; with
        a population also k_map (the smallest F), presence_min and presence_max (δ-presence: f /
        F, 0 if the labels do not match a person of the population); with a sample also
        population_unique (0…1), estimator ('pitman', 'zayatz' or 'snb'), pitman, zayatz and snb
        (0…1, NULL if the model does not fit). Risks are None for an empty release.
    Errors: no quasi-identifier, one that the release or the population lacks, a label that
        cannot be read, raw and release swapped, a threshold outside 0…1, a label that matches
        fewer rows of the population than of the release, more than one description of the
        population, a population smaller than the raw table, weights that are no positive
        numbers.
    """


def t_closeness(
    raw: Frame, released: Frame = None, *, sensitive: Columns = None, quasi: Columns = None,
    hierarchy: Frame = None, ordered: str | None = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> float | None:
    """The t of a release: the largest distance between the distribution of the sensitive values in
    a class and in the raw table (Li et al. 2007, earth mover's distance). The ground distance
    of adjacent numbers, dates and times is 1 / (values - 1), and so it is for the columns of
    ordered. For all other types, and for a column with NULLs, which are a value, every ground
    distance is 1. For a column of the hierarchy it is the height of the lowest common ancestor
    / the height of the tree, and NULL is a child of the root. Suppressed rows, shown as *, are
    a class; rows left out of the release publish no sensitive value and are not a class, but
    count in the raw table.

    raw: name of the raw table.
    released: name of its release, in any format. Without it, or if it names sensitive columns,
        the first table is measured as it is: its cells are values, not labels.
    sensitive: sensitive column or list of columns, in addition to those declared. The worst of
        several columns is returned.
    quasi: quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: the hierarchy table that the release was made with, which may have sensitive
        columns too; None for none.
    ordered: columns of type ENUM whose values have an order, that of the type; None for none.
    Returns: DOUBLE, 0…1; None for an empty release.
    Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that
        cannot be read, raw and release swapped, sensitive values that the raw table or the
        hierarchy lacks.
    """


def attack_background(
    raw: Frame, released: Frame, *, sensitive: Columns = None, known: int = 2,
    sample: int | None = 50000, seed: int = 42, quasi: Columns = None, hierarchy: Frame = None,
    mode: Literal['matching', 'majority'] = 'matching', threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """How often an attacker guesses the sensitive value of a person if the attacker knows some of
    the person's quasi-identifiers and guesses the most frequent value among the matching rows
    (Majeed and Hwang 2025). The known quasi-identifiers are drawn for each person. A row
    matches if its labels cover the known values; a row shown as * matches every person. Labels
    overlap.

    raw: name of the raw table.
    released: name of its release, in label or typed format. A release with added rows is also
        read.
    sensitive: sensitive column or list of columns, in addition to those declared.
    known: number of a person's quasi-identifiers that the attacker knows, from 0 to all.
    sample: maximum number of people attacked, drawn at random by seed; None means all.
    seed: seed for random choices.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    mode: 'matching', or 'majority' for an attacker who knows which class each released row is
        in. That attacker guesses the most frequent value of the class, as the program of the
        paper's authors does; known, sample and seed then have no effect.
    Returns: a row per sensitive column: attribute, persons (attacked; with 'majority' all rows
        of the release), guessed (number of correct guesses; several most frequent values are
        guessed equally often), guessed_share (of people), baseline (the same share without any
        knowledge; only the part above it is due to the knowledge of the attacker). A value that
        is NULL is never guessed. Both shares are NULL if no one is attacked.
    Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that
        cannot be read, raw and release swapped, a sample below 1, more known than there are, an
        unknown mode.
    """


def attack_downcoding(
    raw: Frame, released: Frame, *, id: str | None = None, quasi: Columns = None,
    hierarchy: Frame = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """How many exact values an attacker who knows the method can guess from the labels
    (downcoding). The ends of a range that is not wider than its class are values of the class:
    a guess is one of the two ends. For a node of a hierarchy it is the child with the most
    released rows. Rows with * or NULL in a column do not count in it; neither do sets of text,
    which hide no value of their class. bin_width={'age': 5} of a release function lowers what
    can be guessed.

    raw: name of the raw table.
    released: name of its release, with labels or typed values.
    id: kept column that identifies the rows of both relations, by which guesses are compared
        with the raw table; None for none: only rows and exact are counted.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: a row per quasi-identifier of numbers, dates or times, or with a hierarchy:
        attribute, rows (with a label of the column), exact (rows whose label is a single value)
        with exact_share (0…1), ends (rows whose value is an end of their label). For the other
        rows: guessed (expected number of right guesses), uniform (the same if any value in the
        label is guessed; for a node, any leaf below it), frequent (the same if the value in the
        label is guessed that is most frequent when the rows of each label are spread evenly
        over its values), gain (guessed less the larger of these two, per row). known_share
        (rows that are exact or rightly guessed in the best of these ways, 0…1), sure (ends of
        ranges, two a class, if each is a value of its class; 0 if one is not, because an
        attacker cannot tell which are). ends, frequent and sure are None for a column with a
        hierarchy.
    Errors: no quasi-identifier, one that the release lacks or shows as means, a label that
        cannot be read, raw and release swapped; an id that does not identify rows or that a
        relation lacks.
    """


def attack_homogeneity(
    raw: Frame, released: Frame, *, sensitive: Columns = None, quasi: Columns = None,
    hierarchy: Frame = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """The classes with a single sensitive value, which disclose the value of every member
    (Machanavajjhala et al. 2006; Majeed and Hwang 2025). NULL is not a value and hides none: a
    class of one value and NULLs is exposed, and so is a class of NULLs. A release with
    l_diversity of 2 or more has no exposed class. Suppressed rows, shown as *, are a class;
    rows left out publish nothing.

    raw: name of the raw table.
    released: name of its release, in any format. A release with added rows is also read.
    sensitive: sensitive column or list of columns, in addition to those declared.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: a row per sensitive column: attribute, classes, exposed_classes, class_share (0…1),
        rows (of the release), exposed_rows (rows in exposed classes), row_share (0…1). Both
        shares are None for an empty release.
    Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that
        cannot be read, raw and release swapped.
    """


def attack_inference(
    raw: Frame, released: Frame, *, sensitive: Columns = None, sure: float = 0.8, lift: float = 5.0,
    lift_share: float = 0.3, within: float = 0.05, quasi: Columns = None, hierarchy: Frame = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """What an attacker can infer about a person's sensitive value from their class. It counts rows
    in four kinds of classes: with one value (certain, as attack_homogeneity finds); with a
    value that most rows have (inferred); with a value many times as frequent as in the raw
    table (lifted); and with numbers that lie close together (near). The last three count
    classes of two or more values. NULL is not a value: shares are those of the rows with a
    value. An attacker learns little from the most frequent value of the raw table: it is
    inferred only if, besides, all other values together are at most a hundredth as frequent in
    the class as in the raw table. Suppressed rows, shown as *, are a class; rows left out
    publish nothing.

    raw: name of the raw table.
    released: name of its release, in any format. A release with added rows is also read.
    sensitive: sensitive column or list of columns, in addition to those declared.
    sure: a value is inferred of a class in which its share is at least this.
    lift: a value is lifted in a class in which its share is at least lift times that in the raw
        table, and at least lift_share.
    lift_share: the least share of a value that is lifted.
    within: numbers of a class are near if they differ by at most this share of the distance
        between the 5th and the 95th percentile of the raw table.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: a row per sensitive column: attribute, rows (of the release); certain, inferred,
        lifted and near (rows of such classes) with certain_share, inferred_share, lifted_share
        and near_share (0…1, None for an empty release), near is None for what is no number,
        date or time; even_values (exp of the entropy of the column in the raw table: as many
        equally frequent values are as hard to guess; a column of 94 to 6 % is worth 1.25).
    Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that
        cannot be read, raw and release swapped, a parameter out of its range.
    """


def attack_linking(
    raw: Frame, released: Frame, *, sensitive: Columns = None, sample: int | None = 50000,
    seed: int = 42, quasi: Columns = None, hierarchy: Frame = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The people whose sensitive value is disclosed to an attacker who knows all their quasi-
    identifiers and that they are in the table: the matching rows, and the sensitive value if
    all of them share it (Majeed and Hwang 2025). A row matches if every label covers the
    person's value. Labels overlap, so matching rows may be in several classes. Rows shown as *
    match every person, and so do rows left out of the release: both add the same number of
    matching rows.

    raw: name of the raw table.
    released: name of its release, in label or typed format. A release with added rows is also
        read.
    sensitive: sensitive column or list of columns, in addition to those declared.
    sample: maximum number of people attacked, drawn at random by seed; None means all.
    seed: seed for random choices.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: a row per sensitive column: attribute, persons (attacked), reidentified (expected
        number found by choosing one matching row at random, the sum of 1 / matching rows),
        reidentified_share (of people), disclosed (people with the value that all matching rows
        share; NULL is not a value), disclosed_share. Both shares are NULL if no one is
        attacked.
    Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that
        cannot be read, raw and release swapped, a sample below 1.
    """


def attack_minimality(
    raw: Frame, released: Frame, *, method: Any = 'anonymize', k: int = 5, l: float = 1,
    quasi: Columns = None, sensitive: Columns = None, identifiers: Columns = None,
    keep: Columns = None, exclude: Columns = None,
    l_kind: Literal['distinct', 'entropy', 'recursive'] = 'distinct', c: float = 3, t: float = 1.0,
    beta: float | None = None, beta_kind: Literal['enhanced', 'basic'] = 'enhanced',
    delta: float | None = None, max_share: float | None = None, entity: str | None = None,
    format: Literal['label', 'typed', 'mean', 'median', 'midpoint'] = 'label',
    suppressed: Literal['keep', 'drop'] = 'keep', seed: int = 42, hierarchy: Frame = None,
    strata: Columns = None, weights: Weights = None, bin_width: Mapping[str, float] | None = None,
    key: Any = None, options: Any = None, runs: int | None = None, surer: float = 2.0,
    transparent: bool = False, transparent_by: Literal['groups', 'size'] = 'groups',
    ordered: Columns = None, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """What an attacker learns who knows how a release was made, beyond what the class of a person
    tells (minimality attack, Wong et al. 2007). The attacker knows the method, its parameters,
    the seed and the quasi-identifiers of all people, and which class each person is in. In each
    of many worlds the released values of every class are dealt to its people in another way,
    and the release is made again. The worlds in which a class comes out as it was released are
    equally likely. The attacker names the value whose share in them has grown most above its
    share in the class. Its odds must have grown surer times, and chance must not explain it
    (binomial tests, of which at most 5 % may be false: Benjamini and Hochberg 1995). Without a
    constraint on sensitive values two worlds show that classes do not depend on them. The
    attacker lacks the key of a transparent release, and tries another in each world. Pass the
    parameters that the release was made with.

    raw: name of the raw table.
    released: name of its release, in any format.
    method: release method that made the release.
    k: minimum number of rows in an equivalence class.
    l: minimum diversity of each sensitive column in a class.
    quasi: quasi-identifiers, the columns to generalize; None means the columns declared in
        comments.
    sensitive: columns whose values must not be disclosed; None means the columns declared in
        comments.
    identifiers: columns that identify a person; they are dropped; None means the columns
        declared in comments.
    keep: columns to release unchanged; keep=['*'] keeps every column that has no other role;
        None means the columns declared in comments.
    exclude: columns to leave out that are not identifiers; None means the columns declared in
        comments.
    l_kind: kind of l-diversity: 'distinct', 'entropy' or 'recursive'.
    c: constant c of l_kind='recursive'.
    t: largest allowed distance of a sensitive column's distribution in a class from that in the
        table, 0…1.
    beta: largest allowed relative increase of a sensitive value's share in a class over its
        share in the table, and never above -ln of the latter; None for none.
    beta_kind: 'enhanced', or 'basic' without the limit of -ln of the share in the table.
    delta: upper bound on |ln(share in a class / share in the table)| of every sensitive value;
        None for none.
    max_share: largest allowed share of a sensitive value in a class, 0…1; missing values count
        as one value; None for none.
    entity: column that identifies the person; k, l and t then count people instead of rows, and
        the column is dropped; None for none.
    format: 'label' (text), 'typed' (structs and lists), or 'mean', 'median' or 'midpoint' (one
        value per class instead of a range of numbers, dates or times).
    suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out.
    seed: seed for random choices. It also draws the worlds.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none.
    strata: quasi-identifiers that are not generalized; rows with different values are never in
        one class; None for none.
    weights: importance of each quasi-identifier in the loss, such as weights={'age': 2, 'city':
        0.5}; columns left out have weight 1; None for none.
    bin_width: width of the bins to which quasi-identifiers are cut before rows are grouped,
        such as bin_width={'age': 5}, in days for dates and in seconds for times; labels then
        show the ends of bins; None for none.
    key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and
        cannot be repeated without it; None for none.
    options: parameters of the method, such as {'anonymize': {'effort': 'fast'}}; all others
        keep their defaults.
    runs: how many worlds are drawn; where there are at most 2,000, all are tried instead; None
        means 1,500,000 divided by the number of rows, at least 40 and at most 250.
    surer: a value is claimed if its odds have grown at least this many times above those in the
        class.
    transparent: true makes classes that tell no more than the constraints allow, even to an
        attacker who knows the method and all parameters except the key; no value has a share
        above 1/l.
    transparent_by: how: 'groups' divides rows into groups whose values can be exchanged; 'size'
        makes larger and larger classes without looking at values until all satisfy the
        constraints, so that they tell one number, but it bounds no share.
    ordered: quasi-identifiers and sensitive columns of type ENUM whose values have an order,
        that of the type; labels then are ranges such as [low, medium], and t uses the ordered
        distance; None for none.
    Returns: a row per sensitive column: attribute, persons (rows of the release), claimed
        (people whose value is named), correct (of these), correct_share (0…1) with low and high
        (the ends of its 95 % interval, Wilson 1927), baseline_share (0…1, what would be correct
        of the same claims if the values of each class were dealt at random), certain (claims
        with a single value in all worlds that agree), gain (0…1, the share of people who are
        told beyond their class: correct claims less those by the baseline; 0 where the interval
        does not exclude chance), runs, every_world (whether there are no other worlds, so that
        shares are exact); control_claimed, control_correct_share and control_baseline_share:
        the same for an attacker who does not know the seed and the key, NULL where random
        choices change no class.
    Errors: no quasi-identifier or sensitive column, one that the release lacks, a release that
        the call does not make, a method that adds rows, a parameter out of its range.
    """


def attack_skewness(
    raw: Frame, released: Frame, *, sensitive: Columns = None, threshold: float = 0.5,
    quasi: Columns = None, hierarchy: Frame = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The classes with two or more sensitive values in which one value is far more frequent than
    the others, so that an attacker guesses it (Li et al. 2007; Majeed and Hwang 2025). Classes
    with one value are counted by attack_homogeneity. NULL is not a value: shares are those of
    the rows with a value. Suppressed rows, shown as *, are a class; rows left out publish
    nothing.

    raw: name of the raw table.
    released: name of its release, in any format. A release with added rows is also read.
    sensitive: sensitive column or list of columns, in addition to those declared.
    threshold: a class is exposed if the share of one value in it exceeds this, 0…1. Above 0.5 a
        guess is right for most of its rows; raise it if a value has a larger share in the whole
        table.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: a row per sensitive column: attribute, classes, exposed_classes, class_share (0…1),
        rows (of the release), exposed_rows (rows in exposed classes), row_share (0…1). Both
        shares are None for an empty release.
    Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that
        cannot be read, raw and release swapped, a threshold outside 0…1.
    """


def composition(
    raw: Frame, releases: Sequence[Frame] | Frame, *, id: str | None = None,
    sensitive: Columns = None, l: int = 2, share: float = 0.5, quasi: Columns = None,
    hierarchy: Frame = None, keep: Columns = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The people whose sensitive value several releases disclose together: the intersection or
    composition attack (Ganta, Kasiviswanathan and Smith 2008), counted on the raw table. The
    attacker knows all quasi-identifiers of a person and which releases hold the person. In one
    release the candidates of a person are the rows of all classes whose labels cover the
    person's quasi-identifiers, as whole tuples of their sensitive and kept columns; in several,
    the tuples that are candidates in each release that covers the person, each as often as in
    the release that has it least. Releases that lack a column are compared by the others. What
    is left is counted by sensitive value. The result holds counts only, never values. It is an
    attack, and finding no one is not a bound: it intersects, but does not subtract counts, as
    audit does with previous; share_of_minima is an estimate. A class covers a person if each of
    its labels covers the value in the same row of the person; a quasi-identifier that a release
    lacks covers everything. A class shown as * in every quasi-identifier covers only people
    whom no other class of the release covers. NULL in the sensitive column of attribute is not
    a value, elsewhere in a tuple it is; a release that shows only NULLs for a person, or lacks
    the column, does not narrow the candidates.

    raw: name of the raw table.
    releases: list of the names of 1 to 12 releases, each in label or typed format and with its
        own quasi-identifiers, which may also be left unchanged.
    id: column of the raw table that identifies the person; None means that each row is a
        person. A class covers a person with several rows if it covers one of them. Every row
        whose id is NULL counts as one person.
    sensitive: sensitive column or list of columns, in addition to those declared.
    l: below_l and only_together count people with fewer candidate values than this.
    share: share_of_minima counts people for whom one value has a larger share of the candidates
        than this.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    keep: kept column or list of columns, in addition to those declared: with the sensitive
        columns they are the whole tuple of a row.
    Returns: for each sensitive column a row per release and, for several releases, a last row
        for all together: attribute, releases (VARCHAR[]), persons (covered by at least one of
        them), in_all (covered by all of them), contradicted (no candidate is left: the person
        is not in a release that covers the person, or the tuple has changed; not counted
        further), one_value (one candidate value is left), below_l (fewer than l are left),
        only_together (fewer than l are left, though each release alone leaves at least l),
        share_of_minima (one value has a larger share of the candidates than share),
        least_values, mean_values (candidate values of a person), least_rows (smallest number of
        candidates of a person), note (what it is, and what is not counted). The three before it
        are NULL without such people.
    Errors: no release or more than 12, an unknown id, no quasi-identifier in a release, no
        sensitive column, a sensitive column that all releases lack, one or a kept one that they
        hold in different types, a label that cannot be read, means or medians in place of
        labels.
    """


def inference(
    raw: Frame, released: Frame, *, secret: Columns = None, control: Frame = None,
    attempts: int | None = 2000, seed: int = 42, quasi: Columns = None, hierarchy: Frame = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """Whether a secret can be inferred: an attacker who knows all quasi-identifiers of a person
    guesses the most frequent value of the released rows that match. The same guess for people
    of a control, who are not in the table, shows what the population tells anyway. Only what
    exceeds it comes from being in the table. attack_inference counts classes instead, without a
    control.

    raw: name of the raw table.
    released: name of its release, in label or typed format. A release with added rows is also
        read.
    secret: column or list of columns that the attacker guesses; None means the sensitive
        columns declared in comments on the raw table.
    control: people who are not in the raw table. They show how often the attack succeeds
        without anything of them in the release; None for none; gain is NULL then.
    attempts: maximum number of attempts of each attack, drawn at random by seed; None means
        all.
    seed: seed for random choices.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: a row per secret, whose attack is its name: attack, attempts, successes (tied
        guesses count in parts), rate (of the attempts), control_rate (the same for the control;
        NULL without one), naive_rate (of guesses without the release), gain ((rate -
        control_rate) / (1 - control_rate), 0 to 1 or below 0 by chance), low and high (95 %
        interval of gain after Wilson, or of rate without a control). Rates are NULL without
        attempts.
    Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw
        and release swapped, a control that lacks a column, has it in another type, has no rows
        or has people of the raw table, fewer than one attempt.
    """


def isolation(
    raw: Frame, released: Frame, *, control: Frame = None, attempts: int | None = 2000,
    seed: int = 42, quasi: Columns = None, hierarchy: Frame = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """Whether a record can be isolated (singled out): how many predicates that are written from
    the release alone match exactly one raw row. On one column, a predicate says that the value
    is an end of a range or a member of a set; on all columns the same, or that a label covers
    the value. The same predicates on a control of people who are not in the table show what
    would be isolated anyway.

    raw: name of the raw table.
    released: name of its release, in label or typed format. A release with added rows is also
        read.
    control: people who are not in the raw table. They show how often the attack succeeds
        without anything of them in the release; None for none; gain is NULL then.
    attempts: maximum number of attempts of each attack, drawn at random by seed; None means
        all.
    seed: seed for random choices.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: two rows, for predicates on 'one column' and on 'all columns': attack, attempts,
        successes (tied guesses count in parts), rate (of the attempts), control_rate (the same
        for the control; NULL without one), naive_rate (of guesses without the release), gain
        ((rate - control_rate) / (1 - control_rate), 0 to 1 or below 0 by chance), low and high
        (95 % interval of gain after Wilson, or of rate without a control). Rates are NULL
        without attempts.
    Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw
        and release swapped, a control that lacks a column, has it in another type, has no rows
        or has people of the raw table, fewer than one attempt.
    """


def linkage(
    raw: Frame, released: Frame, *, known: Columns = None, control: Frame = None,
    attempts: int | None = 2000, seed: int = 42, quasi: Columns = None, hierarchy: Frame = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """Whether records can be linked: an attacker has two sources of the same people, each with
    some of the quasi-identifiers. For each record, a released row that matches is chosen at
    random; two records are linked if it is the same row. The attack on people of a control, who
    are not in the table, shows how often records are linked that have no row in the release.

    raw: name of the raw table.
    released: name of its release, in label or typed format. A release with added rows is also
        read.
    known: the quasi-identifiers that the attacker has in the first of two sources; the second
        has the others; None means the first half of them.
    control: people who are not in the raw table. They show how often the attack succeeds
        without anything of them in the release; None for none; gain is NULL then.
    attempts: maximum number of attempts of each attack, drawn at random by seed; None means
        all.
    seed: seed for random choices.
    quasi: the quasi-identifiers; None means the columns declared in comments on the raw table.
    hierarchy: hierarchies that the release was made with; None for none.
    Returns: one row, whose attack names the columns of both sources: attack, attempts,
        successes (tied guesses count in parts), rate (of the attempts), control_rate (the same
        for the control; NULL without one), naive_rate (of guesses without the release), gain
        ((rate - control_rate) / (1 - control_rate), 0 to 1 or below 0 by chance), low and high
        (95 % interval of gain after Wilson, or of rate without a control). Rates are NULL
        without attempts.
    Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw
        and release swapped, a control that lacks a column, has it in another type, has no rows
        or has people of the raw table, fewer than one attempt.
    """


def check_hierarchy(
    data: Frame, hierarchy: Frame, *, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """All faults of a hierarchy, for the columns of a table that it names. The result shows values
    of the table and is not a release.

    data: the relation.
    hierarchy: a relation with the columns attribute, value, level and label, as
        read_hierarchies returns them.
    Returns: a row per fault: attribute, fault, name (the value or label) and found (the
        conflicting entry). fault is 'not covered' (a value of the table that the hierarchy
        lacks), 'listed twice' (a value), 'two parents' (a label), 'also a leaf' (a label that
        is a value of another branch), 'above itself' (a label) or '* below a label'. No row:
        the hierarchy has no fault.
    Errors: a column in the hierarchy that is neither number, date, time nor text.
    """


def date_hierarchy(
    data: Frame, column_name: str, *, levels: Any = ('month', 'quarter', 'year'),
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """A generalization hierarchy of a date or timestamp column: day, month, quarter, year and
    longer periods.

    data: the relation.
    column_name: the column of the hierarchy.
    levels: any of 'day', 'month', 'quarter', 'year', 'decade' and 'century', in this order.
        Centuries begin with a decade: 2000 to 2099.
    Returns: a row per distinct value and level: attribute, value, level, label, such as
        '2020-03', '2020-Q1', '2020', '2020s' and '2000 to 2099'; the last level is '*'.
    Errors: no such column, unknown levels or levels in another order, a text that is the day of
        another text.
    """


def numeric_hierarchy(
    data: Frame, column_name: str, *, widths: Any = (5, 10, 20), threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """A generalization hierarchy of a numeric column: ranges of fixed widths, each within the
    next.

    data: the relation.
    column_name: the column of the hierarchy.
    widths: widths of the ranges, in ascending order, each a multiple of the one before. Ranges
        start at multiples of their width.
    Returns: a row per distinct value and level: attribute, value, level, label, such as '20 to
        24' for whole numbers and '20 to below 25' for others; the last level is '*'. Decimal
        numbers are compared as they print, so 4.35 is in '4.35 to below 4.36'. The ends have
        the decimals of the width.
    Errors: no such column, widths that are not multiples of each other.
    """


def prefix_hierarchy(
    data: Frame, column_name: str, *, lengths: Any = (4, 3, 2, 1), threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """A generalization hierarchy of codes such as postal codes: their prefixes.

    data: the relation.
    column_name: the column of the hierarchy.
    lengths: number of leading characters kept at each level, in descending order. Shorter codes
        stay unchanged.
    Returns: a row per distinct value and level: attribute, value, level, label, such as '123*';
        the last level is '*'.
    Errors: no such column, lengths that do not descend to at least 1, a code that is the label
        of another code.
    """


def read_hierarchies(
    files: str | Sequence[str], *, threads: int | None = None, time_zone: str = 'UTC',
    connection: Any = None
) -> Frame:
    """Generalization hierarchies from files in the usual format: no header, one line per value,
    the value first, then its labels from the lowest level to the root, separated by semicolons
    or commas. Store the result: the files are read again on every use.

    files: a path, a pattern such as 'dir/*.csv', or a list of them; UTF-8. The name of a file,
        up to its first dot, is the name of its column.
    Returns: a row per value and level: attribute, value, level (1 is the first above the
        value), label. Empty cells are left out, so lines may have different lengths.
    Errors: no such file, a file that is not UTF-8, a line without a label, a file that can be
        read with semicolons and with commas.
    """


def anon_roles(
    data: Frame, *, quasi: Columns = None, sensitive: Columns = None, identifiers: Columns = None,
    keep: Columns = None, exclude: Columns = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The role of every column of a table, and where it is declared.

    data: the relation.
    quasi, sensitive, identifiers, keep, exclude: as in a release, to see what a call would make
        of them.
    Returns: column_name, column_type, role ('identifier', 'quasi', 'sensitive', 'keep',
        'exclude' or NULL), source ('comment', 'call' or NULL), distinct_values, nulls.
    Errors: an unknown tag, two roles for one column, an unknown column.
    """


def safe_harbor(
    data: Frame, *, restricted: Frame = None, as_of: Any = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """Which of the 18 identifiers of HIPAA Safe Harbor (45 CFR 164.514(b)(2)) each column matches,
    and how many rows are still against the rule. It looks at names, types and values, as
    suggest_roles does, in a raw table or a release. A column that matches nothing is reported
    as nothing found by this check. No result says that a table meets Safe Harbor: paragraph
    (ii), actual knowledge, and free text need a person.

    data: the relation, raw or released.
    restricted: relation whose column zip3 has the prefixes of ZIP codes with 20,000 people or
        fewer, of three digits; None for none, so that restricted prefixes are not counted.
    as_of: date at which years of birth are turned into ages; None means today.
    Returns: a row per column: column_name, column_type (without the values of an ENUM),
        paragraph ('A' to 'R', None for none), identifier (in words), reason, to_do (NULL if no
        row is left), remaining_rows and remaining_values (rows and distinct values still
        against the rule; NULL if nothing was found). An age above 89 is against the rule unless
        it is in one category of 90 or older, written 90+ or 90. A range that reaches above 89
        is too. So are dates finer than a year, and more than three digits of a ZIP code. Any
        value of the other identifiers counts, except blanks and *. No part of the result
        contains a value.
    Errors: a column name that begins with __anon_, a table whose hashes do not fit into memory;
        restricted prefixes that are not three digits.
    """


def suggest_roles(
    data: Frame, *, threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """A suggested role for every column, with the reason. No suggestion is applied automatically,
    and declared roles do not change the suggestions. The first rule that applies decides.
    'identifier': values that look like an e-mail address, an official, account or device number
    (by check digits where there are any), an IP or web address, a picture or a phone number, in
    a sample of 2000 values; types that cannot be generalized; free text. 'identifier' if the
    name says so, by words in several languages. 'identifier', whatever the name says, if nine
    in ten values are different and are texts or whole numbers, but not dates or measurements.
    Then what the name says. 'quasi' if the column alone singles out a row, or holds dates. The
    other columns are 'keep', the one that tells rows apart least first, as long as together
    they single out no row, as audit requires; the others are 'quasi'. In a table of 100 rows or
    more, kept values that fewer than 5 rows share make up less than a tenth of the rows. A
    column of no known name that numbers people who have several rows is 'identifier'. One that
    would be kept is 'quasi' if it repeats a quasi-identifier, exactly or nearly, and
    'sensitive' if a sensitive column can be computed from it. The reason also says if texts are
    numbers, dates or times in another notation, and the type to read them as. It counts the
    values with blanks around them, no-break spaces and tabs among them: trim() removes them.

    data: the relation.
    Returns: a row per column: column_name, column_type (without the values of an ENUM), role
        ('identifier', 'quasi', 'sensitive' or 'keep'), reason, distinct_values (without NULL),
        null_share (0…1), unique_share (of the rows that are unique on this column; NULL is a
        value), adds_share (of the rows that are unique on this column and all others that are
        not identifiers, but not on the others alone), repeats (another column of which each
        value has one value of this one, so that a release gains little by both; None for most),
        entity (whether this is the identifier to count people by, because people have several
        rows; true for at most one column). The shares are None for an empty table. No part of
        the result contains a value. Values are compared by a 64-bit hash.
    Errors: a column name that begins with __anon_, a table whose hashes do not fit into memory.
    """


def unique_combinations(
    data: Frame, *, max_columns: Any = 3, columns: Columns = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The smallest combinations of columns that single rows out, the most identifying first, as
    SUDA2 finds them (Elliot, Manning and Ford 2002; Manning, Haglin and Keane 2008): minimal
    sample uniques. A set is counted for a row if no other row has its values in these columns,
    and no part of the set singles the row out. NULL is a value.

    data: the relation.
    max_columns: maximum number of columns in a combination.
    columns: columns to search; None means all except the declared identifiers.
    Returns: a row per set: columns (VARCHAR[]), size, rows (of which the set is a minimal
        unique), share (of all rows), score (share of the sum of all scores, 0…1). As in SUDA, a
        row scores (n - s)(n - s - 1) … (n - m + 1) in a set of s columns, where n is the number
        of columns and m is max_columns: one that few columns single out scores more. The sum of
        score over the sets that contain a column tells how much the column contributes.
    Errors: an unknown column, a max_columns below 1, too many sets, a table whose hashes do not
        fit into memory; without columns, an unknown tag and two roles for one column.
    """


def ledger_entry(
    raw: Frame, released: Frame, name: str, *, entity: str | None = None,
    manifest: str | None = None, key: str = 'env:ANON_KEY', threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The entry of a release for a ledger, a table that anon_sql.ledger makes: INSERT INTO
    anon_ledger FROM ledger_entry(…). It holds the manifest, a hash of the released rows and a
    keyed hash of each person, and no value of the data. By the hashes, ledger_overlap can tell
    which people are released again.

    raw: name of the raw table; all its people count as released.
    released: name of its release.
    name: name of the release in the ledger.
    entity: column of the raw table that identifies people; the same for all entries of a
        ledger.
    manifest: the manifest as JSON: (SELECT to_json(m) FROM anon_manifest(…) AS m).
    key: as in anon_pseudonym; the same for all entries of a ledger. Without it no one can test
        from the ledger whether a person was released, and the overlap cannot be told.
    Returns: one row: release, released_at (TIMESTAMP, UTC), rows_sha256 (of the released rows
        in any order), manifest (JSON), entity, entity_type (the column and its SQL type),
        key_check (hash by which entries with another key are seen), persons (BIGINT),
        person_hashes (BLOB[], 16 bytes each, sorted), digest (keyed hash of all these, by which
        a changed entry is seen).
    Errors: no name, no manifest, an unknown entity or one with NULL, a key as in
        anon_pseudonym.
    """


def ledger_new(
    data: Frame, ledger: Frame, *, entity: str | None = None, key: Any = 'env:ANON_KEY',
    k: int | None = None, l: float | None = None, sensitive: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The rows of all people in a table whom no release in a ledger holds. They can be released
    without releasing anyone twice. With k or l, no rows are returned until there are enough new
    people, because a lone newcomer could be identified as the only difference. People who wait
    stay out of the ledger, and come with the next release. ledger_overlap counts who waits. The
    result holds identifiers and is not a release.

    data: the table.
    ledger: name of the ledger.
    entity: column that identifies persons, called as in the raw tables of all entries. Its
        values are compared whatever their type: the numbers 5 and 5.00 and the text 5 are the
        same person, and the text 005 is another.
    key: the key of the ledger, as in anon_pseudonym.
    k: while fewer new persons than this are there, all of them wait; None means that they do
        not wait for others.
    l: while new persons have fewer different values than this in a sensitive column, NULL not
        counted, all of them wait; None means that they do not wait for other values.
    sensitive: sensitive column or list of columns, in addition to those declared, which l
        counts.
    Returns: columns and rows of the table, all rows of a person or none.
    Errors: an entry that was made with another key, an l without a sensitive column, and those
        of ledger_overlap.
    """


def ledger_overlap(
    data: Frame, ledger: Frame, *, entity: str | None = None, key: Any = 'env:ANON_KEY',
    k: int | None = None, l: float | None = None, sensitive: Columns = None,
    threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The earlier releases in a ledger, and how many people of a table each of them holds.

    data: the table.
    ledger: name of the ledger.
    entity: column that identifies persons, called as in the raw tables of all entries. Its
        values are compared whatever their type: the numbers 5 and 5.00 and the text 5 are the
        same person, and the text 005 is another.
    key: the key of the ledger, as in anon_pseudonym.
    k: while fewer new persons than this are there, all of them wait; None means that they do
        not wait for others.
    l: while new persons have fewer different values than this in a sensitive column, NULL not
        counted, all of them wait; None means that they do not wait for other values.
    sensitive: sensitive column or list of columns, in addition to those declared, which l
        counts.
    Returns: a row per entry of the ledger: release, released_at (TIMESTAMP, UTC), persons (of
        that release), shared (those who are in the table, too), share (of the people of the
        table, 0…1). The last two are None for an entry that was made with another key. With k
        or l, and if new people wait, a last row whose release and released_at are NULL counts
        them in persons and shared.
    Errors: a table that is not a ledger; an entry that was changed after ledger_entry made it,
        or is of another column than entity; an unknown entity or one with NULL, a key as in
        anon_pseudonym; with k or l those of ledger_new.
    """


def series_forget(
    state: Frame, persons: Sequence[Any], *, key: str = 'env:ANON_KEY', threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The state of a series without some people: their cohorts are withdrawn whole, as series_next
    does with leavers='withdraw'. No member of these cohorts is released again. The state keeps
    a keyed hash of each of them, because a person who is placed twice can be found by
    intersection.

    state: name of the state.
    persons: list of the people's values in the column entity.
    key: the key of the series.
    Returns: the state, as series_next does. Save it in place of the other.
    Errors: a relation that is no state, a key as in anon_pseudonym or another than that of the
        series.
    """


def series_next(
    data: Frame, state: Frame = None, *, quasi: Columns = None, sensitive: Columns = None,
    identifiers: Columns = None, keep: Columns = None, entity: str | None = None,
    hierarchy: Frame = None, l: int | None = None, leaf: int | None = None,
    waiting: float | None = None, leavers: Literal['keep', 'withdraw'] = 'keep',
    key: Any = 'env:ANON_KEY', exclude: Columns = None, threads: int | None = None,
    time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """The next state of a series of releases. Newcomers are placed into cohorts of l or more
    people with different sensitive values. A person is placed once: a member who leaves, or
    whose values change, stays in the cohort with the values of entry, and no member of a cohort
    that is gone is released again. Releases of these cohorts can be made again and again
    (anonymize with series). The state is private, like the raw table: save it as a table. The
    same table, state and key give the same cohorts.

    data: the relation.
    state: the state of the series before; None means that the series begins.
    quasi: quasi-identifiers, the columns to generalize; None means the columns declared in
        comments.
    sensitive: columns whose values must not be disclosed; None means the columns declared in
        comments.
    identifiers: columns that identify a person; they are dropped; None means the columns
        declared in comments.
    keep: columns to release unchanged; keep=['*'] keeps every column that has no other role;
        None means the columns declared in comments.
    entity: column that identifies the person; k, l and t then count people instead of rows, and
        the column is dropped; None for none.
    hierarchy: relation that holds generalization hierarchies, with the columns attribute,
        value, level and label; None for none.
    l: least number of people of a cohort, at least 2, all with different sensitive values; it
        is chosen for the first state; None means 2 for the first state, and later that of the
        series.
    leaf: rows of the groups in which newcomers are divided into cohorts, before they are
        halved; None means 40 where l is 2, and 80 above.
    waiting: expected share of people who wait, 0…1, up to which such a group is halved; None
        means 0.02 where l is 2, and 0.05 above.
    leavers: 'keep' shows the row of a person who has left until the last one of the cohort has
        left; 'withdraw' withdraws the whole cohort at once; either way, no member of a cohort
        that is gone is ever released again.
    key: secret key of the series, as in anon_pseudonym; the same for all its states.
    exclude: columns to leave out that are not identifiers; None means the columns declared in
        comments.
    Returns: the state, rows in random order: cohort (BIGINT), person (VARCHAR, a keyed hash),
        tuple (VARCHAR, JSON or a keyed digest).
    Errors: no entity or one with NULL, a person with several rows, a missing sensitive value,
        an l above the number of values, a table without rows, a state of another key, version
        or other columns, a key as in anon_pseudonym, and those of a release.
    """


def series_status(
    state: Frame, *, threads: int | None = None, time_zone: str = 'UTC', connection: Any = None
) -> Frame:
    """Summary of each release in a series, one row per release.

    state: name of the state, which series_next has made.
    Returns: release (BIGINT, from 1), made_at (TIMESTAMP, UTC), cohorts, present (people of the
        table with a cohort), former (rows of people who have left), waiting (people without a
        cohort), withheld (people of the table who are never released again), changed (present
        people whose values are not the released ones), largest_waiting_share (of a group that
        was divided into cohorts, 0…1), l. If it is above 0.1, a person of that group is
        likelier to have one of its frequent values than 1/l.
    Errors: a relation that is not a state.
    """
