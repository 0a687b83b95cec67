"""The version of the package, written into every macro it makes."""

VERSION = "0.1.0"
