"""Studies: what makes the generated parts of the documentation and the findings anew."""
