-- A compressed profile (8 KB of JSON are 2.5 KB) stays in the row of its store instead of a second table: a batch of 100 then reads 100 pages and
-- their index, not 300 pages and two indexes, and takes half of the server's CPU. Holds for what is written from now on: a store moves into its row
-- with its next observation, or all of them with `store-api profiles render` or VACUUM FULL.
SET ROLE vitrine_migrations;
ALTER TABLE stores SET (toast_tuple_target = 8160);
RESET ROLE;
