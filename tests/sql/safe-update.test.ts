/** Our SQL has no UPDATE or DELETE without WHERE, which hosted projects refuse (`safeupdate`). */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { unboundedStatements } from '../support/unbounded-statements.ts'

const migrations = fileURLToPath(new URL('../../supabase/migrations/', import.meta.url))

test.each(readdirSync(migrations))('%s changes no table as a whole', (file) => {
  expect(unboundedStatements(readFileSync(migrations + file, 'utf8'))).toEqual([])
})

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
