"""Values that are recognized: check digits, and texts that only look alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.suggest.patterns import is_card, is_iban, is_ip, is_phone, recognized
from tests.role.planted import card, iban

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    "text",
    ["DE89370400440532013000", "GB82 WEST 1234 5698 7654 32", "fr1420041010050500013M02606"],
)
def test_ibans(text):
    assert is_iban(text)
    changed = text[:-1] + str((int(text[-1]) + 1) % 10)
    assert not is_iban(changed)


@pytest.mark.parametrize("text", ["4111111111111111", "5500 0000 0000 0004", "3400-0000-0000-009"])
def test_cards(text):
    assert is_card(text)
    assert not is_card(text[:-1] + str((int(text[-1]) + 1) % 10))


@given(st.integers(0, 10**14 - 1))
def test_check_digits_of_another_writer(number):
    assert is_iban(iban(number))
    assert is_card(card(number))


@pytest.mark.parametrize(
    "text",
    [
        *("+49 30 1234567", "0049301234567", "030/1234567", "(030) 123 45 67", "(212) 555-0123"),
        *("212-555-0123", "1-800-555-0199", "+1 (212) 555-0123 x12", "06 12 34 56 78"),
        "+34 612 345 678",
    ],
)
def test_phones(text):
    assert is_phone(text)


@pytest.mark.parametrize(
    "text",
    ["2024-01-31", "31.01.2024", "01/02/2024", "01234", "1234567", "0.1234567", "12:30:00", "2,5"],
)
def test_no_phones(text):
    assert not is_phone(text)
    assert recognized([text] * 9) is None


@pytest.mark.parametrize("text", ["10.0.0.1", "192.168.0.0/24", "2001:db8::1", "::1"])
def test_addresses(text):
    assert is_ip(text)


@pytest.mark.parametrize("text", ["1.2.3", "999.1.1.1", "12:30:00", "a:b:c", "1.2.3.4.5"])
def test_no_addresses(text):
    assert not is_ip(text)


def test_shares():
    pattern, share = recognized(["none"] * 90 + ["ask Ann (ann@example.org)"] * 10 + [" "] * 50)
    assert (pattern.kind, share) == ("an e-mail address", 0.1)
    assert recognized(["none"] * 1000 + ["a@b.org"]) is None
    assert recognized([]) is None
    numbers = [str(4 * 10**15 + number) for number in range(1000)]  # one in ten is right by chance
    assert recognized(numbers) is None
