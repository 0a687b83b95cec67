"""Tests of the verdict on a release."""
