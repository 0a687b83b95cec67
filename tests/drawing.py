"""How many examples hypothesis draws for a test: a fifth of the usual, or by profile.

``./test --hypothesis-profile=large`` draws ten times the usual number; the environment variable
ANON_TESTS_EXAMPLES names the profile where no option does.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("small", max_examples=20, deadline=None)
settings.register_profile("usual", max_examples=100, deadline=None)
settings.register_profile("large", max_examples=1000, deadline=None)
profile = os.environ.get("ANON_TESTS_EXAMPLES", "small")
settings.load_profile(profile)  # pytest loads another one after this, where it is asked to
FEW = 5  # examples that even the smallest profile leaves


def examples(usual: int, **more) -> settings:
    """Return settings for ``usual`` examples, more or fewer by the profile.

    Inputs that a test's assumptions filter out are no fault, also where few are left.
    """
    more.setdefault("suppress_health_check", [HealthCheck.filter_too_much])
    wanted = usual * settings.default.max_examples // 100
    return settings(max_examples=max(wanted, min(usual, FEW)), deadline=None, **more)
