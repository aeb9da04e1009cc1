"""What is timed, against whom, on which groups: written down, then run (`make bench`)."""
