"""How much the test error of a fit varies between draws of what is random in it."""
