"""What holds in a service: threads, forks, and folders that cannot be written."""
