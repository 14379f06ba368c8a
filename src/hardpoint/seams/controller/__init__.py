"""Controllers: whoever follows some objects and makes the world look like them."""
