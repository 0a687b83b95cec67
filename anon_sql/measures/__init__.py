"""What the measures need and SQL cannot say."""
