"""Python: clients whose assignor classes are called in this process."""
