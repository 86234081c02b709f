/** Questions to the product that change nothing: each runs in a transaction that is rolled back. */
import * as z from 'zod'
import type { Ledger, Row } from '../model/ledger.ts'

/** Outcome of one question: the returned rows, or the reason of a refusal. */
export type Told = { rows: Row[] } | { refused: string }

export type Question = {
  /** Kind of the action; actions are counted by kind. */
  kind: string
  /** Description of actor and target, for failure messages. */
  words: string
  name: string
  args: Row
  /** Returns true if the rows mean that the action succeeded. */
  isDone(rows: readonly Row[]): boolean
  /** Returns true if the owner's acts permit the action; only called for an action that succeeded. */
  isGiven(): boolean
}

const asking = `
create function testing.ask(questions text[]) returns jsonb language plpgsql as $$
declare
  question text;
  told jsonb;
  all_told jsonb := '[]';
begin
  foreach question in array questions loop
    begin
      execute question into told;
      told := jsonb_build_object('rows', coalesce(told, '[]'));
      raise exception using errcode = 'TB000';
    exception
      when sqlstate 'TB000' then null;
      when others then
        if sqlstate not like 'PT%' then
          raise exception '% in %', sqlerrm, question;
        end if;
        told := jsonb_build_object('refused', sqlerrm);
    end;
    all_told := all_told || told;
  end loop;
  return all_told;
end $$`

export async function installAsking(ledger: Ledger): Promise<void> {
  await ledger.query(asking)
}

const toldSchema = z.array(
  z.union([
    z.object({ rows: z.array(z.record(z.string(), z.unknown())) }),
    z.object({ refused: z.string() }),
  ]),
)

/** Asks all questions at once and returns the answers in the same order. */
export async function askAll(ledger: Ledger, questions: readonly Question[]): Promise<Told[]> {
  if (questions.length === 0) return []
  const [row] = await ledger.query('select testing.ask($1) as told', [questions.map(statementOf)])
  return toldSchema.parse(row?.['told'])
}

function statementOf({ name, args }: Question): string {
  const given = Object.entries(args).map(([key, value]) => `${key} => ${literal(value)}`)
  return `select jsonb_agg(to_jsonb(r)) from (select * from api.${name}(${given.join(', ')})) r`
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return quoted(`{${value.map((one) => JSON.stringify(one)).join(',')}}`)
  return quoted(typeof value === 'string' ? value : JSON.stringify(value))
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
