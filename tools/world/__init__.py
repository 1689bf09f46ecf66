"""The built-in graph `world`: countries, cities, languages and currencies, from PyPI packages."""
