"""The guests in the box. They use the public SDK only, and come in by the same door as a stranger's."""
