/** Our SQL has no UPDATE or DELETE without WHERE, which hosted projects refuse (`safeupdate`). */
import { expect, test } from 'vitest'
import { filesIn } from '../support/tidy/files.ts'
import { unboundedStatements } from '../support/unbounded-statements.ts'

test.each(filesIn('supabase/schemas', 'supabase/migrations'))(
  '$path changes no table as a whole',
  ({ text }) => {
    expect(unboundedStatements(text)).toEqual([])
  },
)

test.each([
  ['update t set a = 1', 1],
  ['update t set a = 1 where true', 0],
  ["update t set a = (select 1 from u where u.b = ';'); select 1", 1],
  ['with x as (delete from t returning *) select * from x where true', 1],
  ['with x as (delete from t where a = 1 returning *) select * from x', 0],
  ['create function f() returns void as $$ begin delete from t; end $$ language plpgsql', 1],
  ['select 1 from t for update; insert into t values (1) on conflict do update set a = 1', 0],
  ['create table t (a int references u on delete cascade on update cascade)', 0],
  ["-- delete from t\nselect 'delete from t'", 0],
])('%s is read as it is meant', (sql, found) => {
  expect(unboundedStatements(sql)).toHaveLength(found)
})
