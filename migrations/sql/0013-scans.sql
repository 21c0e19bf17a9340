SET ROLE vitrine_migrations;

CREATE TABLE scan_jobs (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  domain text COLLATE "C" NOT NULL,
  cause text COLLATE "C" NOT NULL CHECK (cause IN ('requested', 'routine')),
  status text COLLATE "C" NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'blocked', 'failed')),
  error text,
  queued_at timestamptz(3) NOT NULL,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  attempts integer NOT NULL DEFAULT 0,
  lease_id text COLLATE "C",
  due_at timestamptz(3)
);
-- At most one job of a domain is open, whoever queues it.
CREATE UNIQUE INDEX scan_jobs_open ON scan_jobs (domain) WHERE status IN ('queued', 'running');
CREATE INDEX scan_jobs_finished ON scan_jobs (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX scan_jobs_due ON scan_jobs (due_at) WHERE status IN ('queued', 'running') AND due_at IS NOT NULL;
CREATE INDEX scan_jobs_undelivered ON scan_jobs (queued_at) WHERE status = 'queued' AND due_at IS NULL;
-- The last scan of a domain is part of its enrich result.
CREATE INDEX scan_jobs_last_of_domain ON scan_jobs (domain, finished_at DESC) WHERE finished_at IS NOT NULL;
COMMENT ON TABLE scan_jobs IS 'scans that wait, run or ended some days ago';
COMMENT ON COLUMN scan_jobs.attempts IS 'attempts that began, without those that were put off or handed back';
COMMENT ON COLUMN scan_jobs.lease_id IS 'of the process that runs it; only the holder may end the job';
COMMENT ON COLUMN scan_jobs.due_at IS 'from then on any process may take it: the end of the lease while it runs, its next attempt while it waits; NULL: its message has not come';

CREATE TABLE analyses (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  domain text COLLATE "C" NOT NULL,
  scan_job_id text COLLATE "C",
  status text COLLATE "C" NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'blocked', 'failed')),
  error text,
  created_at timestamptz(3) NOT NULL
);
CREATE INDEX analyses_of_job ON analyses (scan_job_id);
CREATE INDEX analyses_by_time ON analyses (created_at);
COMMENT ON TABLE analyses IS 'analyses that customers asked for; the result of one is the store itself';

-- Unlogged: after a crash of the server every host begins anew, and a request does not wait for the disk.
CREATE UNLOGGED TABLE request_turns (
  target text COLLATE "C" NOT NULL PRIMARY KEY,
  next_at timestamptz(3) NOT NULL,
  interval_ms integer NOT NULL DEFAULT 0,
  interval_until timestamptz(3) NOT NULL DEFAULT '-infinity',
  holder text COLLATE "C",
  held_until timestamptz(3) NOT NULL DEFAULT '-infinity',
  backlog_until timestamptz(3) NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
CREATE INDEX request_turns_by_time ON request_turns (next_at);
CREATE INDEX request_turns_by_holder ON request_turns (holder) WHERE holder IS NOT NULL;
COMMENT ON TABLE request_turns IS 'when the next request may be sent to a host, or to the edge that many hosts share, and which scan has its connection';
COMMENT ON COLUMN request_turns.target IS 'host:NAME, or the edge: edge:shopify, ip:ADDRESS';
COMMENT ON COLUMN request_turns.interval_ms IS 'between two requests, where the host asked for more than usual, until interval_until';
COMMENT ON COLUMN request_turns.holder IS 'the scan that has the one connection, until held_until or until it gives it back';
COMMENT ON COLUMN request_turns.backlog_until IS 'the end of the line of scans that were put off';

-- Takes the next turn at all of `targets` for a scan, in one round trip. `put_off`: another scan has a connection there, or the turn is later than
-- `max_wait_ms` and the scan holds none of the targets yet; then nothing is taken, and the scan joins the line of scans that come back each
-- `backlog_ms` (0: it does not line up, and comes back after the wait).
CREATE FUNCTION take_request_turn(targets text[], scan text, usual_interval_ms integer, hold_ms integer, max_wait_ms integer, backlog_ms integer)
RETURNS TABLE (wait_ms integer, put_off boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  at timestamptz;
  turn timestamptz;
  line_end timestamptz;
  is_busy boolean;
  is_held boolean;
BEGIN
  INSERT INTO public.request_turns (target, next_at) SELECT t, '-infinity' FROM unnest(targets) AS t ORDER BY t ON CONFLICT DO NOTHING;
  PERFORM FROM public.request_turns r WHERE r.target = ANY (targets) ORDER BY r.target FOR UPDATE;
  at := date_trunc('milliseconds', clock_timestamp()); -- After the wait for the rows.
  SELECT greatest(at, max(r.next_at)), bool_or(r.held_until > at AND r.holder <> scan), bool_or(r.held_until > at AND r.holder = scan),
    greatest(at, max(r.backlog_until))
  INTO turn, is_busy, is_held, line_end FROM public.request_turns r WHERE r.target = ANY (targets);
  put_off := coalesce(is_busy, false) OR (NOT coalesce(is_held, false) AND turn > at + make_interval(secs => max_wait_ms / 1000.0));
  IF put_off AND backlog_ms > 0 THEN
    line_end := greatest(line_end, CASE WHEN is_busy THEN at ELSE turn END) + make_interval(secs => backlog_ms / 1000.0);
    UPDATE public.request_turns r SET backlog_until = line_end WHERE r.target = ANY (targets);
    wait_ms := ceil(extract(epoch FROM line_end - at) * 1000);
  ELSE
    wait_ms := ceil(extract(epoch FROM turn - at) * 1000);
  END IF;
  IF NOT put_off THEN
    UPDATE public.request_turns r SET holder = scan, held_until = turn + make_interval(secs => hold_ms / 1000.0),
      next_at = turn + make_interval(secs => greatest(usual_interval_ms, CASE WHEN r.interval_until > at THEN r.interval_ms ELSE 0 END) / 1000.0)
    WHERE r.target = ANY (targets);
  END IF;
  RETURN NEXT;
END
$$;

GRANT SELECT, INSERT, DELETE ON scan_jobs TO vitrine_store_api;
-- An analysis locks the row of the job that it waits for until it is committed, and a row lock needs the right to change a column.
GRANT UPDATE (error) ON scan_jobs TO vitrine_store_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON analyses TO vitrine_store_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON scan_jobs, request_turns TO vitrine_enrich;
GRANT SELECT, UPDATE ON analyses TO vitrine_enrich;
REVOKE EXECUTE ON FUNCTION take_request_turn(text[], text, integer, integer, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION take_request_turn(text[], text, integer, integer, integer, integer) TO vitrine_enrich;

RESET ROLE;
