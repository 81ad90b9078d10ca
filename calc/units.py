"""The factors between units."""

GIB = 2**30
MILLION = 1e6
PETA = 1e15
MILLISECONDS = 1000
HOUR_SECONDS = 3600
DAY_HOURS = 24
WEEK_HOURS = 168
MEAN_MONTH_HOURS = 730  # of the average month: for rates
LONGEST_MONTH_HOURS = 744  # of a month of 31 days: a limit
YEAR_HOURS = 8760
YEAR_DAYS, YEAR_MONTHS = 365, 12
