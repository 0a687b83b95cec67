"""Privacy models: what a class must satisfy, and how near it comes."""
