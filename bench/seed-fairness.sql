-- A thousand booking pages with as many opening hours and days off as a page may have, in workspace 1.
insert into booking_pages
  (workspace_id, title, slug, user_id, duration, time_zone, hours, days_off, created_at, updated_at)
  select 1, 'Large page ' || g, 'large-' || g, 1, 5, 'Europe/Berlin',
    (select jsonb_agg(jsonb_build_object('day', day, 'from', lpad(h::text, 2, '0') || ':00',
        'to', lpad(h::text, 2, '0') || ':55'))
      from unnest(array['monday', 'tuesday', 'wednesday', 'thursday', 'friday']) day, generate_series(0, 9) h),
    (select array_agg(to_char(date '2030-01-01' + d, 'YYYY-MM-DD')) from generate_series(0, 365) d), now(), now()
  from generate_series(1, :pages) g;
