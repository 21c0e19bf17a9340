SET ROLE vitrine_migrations;

-- Traces of many tokens that few of every hour reach: the extremes of 32 pages selected two thirds of all pages for one trace in a thousand.
DROP INDEX traces_by_extremes;
CREATE INDEX traces_of_tokens ON traces (total_tokens);

RESET ROLE;
