SET ROLE vitrine_migrations;

-- When the next request may be sent to a host or to the edge that many hosts share, and which scan has its connection. Unlogged: after a crash
-- of the server everybody begins anew, and a request does not wait for the disk.
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

GRANT SELECT, INSERT, UPDATE, DELETE ON request_turns TO vitrine_enrich;
REVOKE EXECUTE ON FUNCTION take_request_turn(text[], text, integer, integer, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION take_request_turn(text[], text, integer, integer, integer, integer) TO vitrine_enrich;

RESET ROLE;
