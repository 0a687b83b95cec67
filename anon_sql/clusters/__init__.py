"""Clusters of rows by k-means, as SDkA begins with."""
