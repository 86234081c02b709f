/**
 * An attacker who guesses sign-up codes to open accounts for other people's mail addresses. It calls the
 * real functions as fast as they allow, always from new networks. It requests as many codes as possible and
 * guesses more often than the functions compare. It runs inside the database, where a guess costs
 * microseconds.
 */
import * as z from 'zod'
import type { TestDatabase } from './database.ts'

export type Attack = {
  /** Number of mail addresses, each attacked for four hours. */
  addresses: number
  /** Number of possible codes; a million in the product. */
  codes: number
  /** Guesses per hour. Beyond 5, the functions compare a guess with no code. */
  guessesAnHour: number
  seed: number
}

const resultRow = z.object({ guesses: z.int(), compared: z.int(), most: z.int(), won: z.int() })
/** Result of an attack; `most` is the highest number of comparisons with the codes of one address. */
export type Result = z.output<typeof resultRow> & { addresses: number }

/** Addresses that share a transaction; each holds locks until its end. */
const batch = 25

export async function attack(db: TestDatabase, plan: Attack): Promise<Result> {
  await db.sql.unsafe(attacker)
  const total = { guesses: 0, compared: 0, most: 0, won: 0, addresses: 0 }
  for (let first = 0; first < plan.addresses; first += batch) {
    const seed = ((plan.seed + first) % 1_000) / 1_000
    const rows = await db.sql`select * from testing.guess(${first}, ${batch}, ${plan.codes},
      ${plan.guessesAnHour}, ${seed})`
    const [row] = z.tuple([resultRow]).parse([...rows])
    total.guesses += row.guesses
    total.compared += row.compared
    total.most = Math.max(total.most, row.most)
    total.won += row.won
    total.addresses += batch
  }
  return total
}

// TypeScript defines the codes and SQL compares digests only, so numbers stand for the codes here.
const attacker = `
create or replace function testing.code_digest(email text, code integer) returns text
  language sql immutable as 'select md5(email || code) || md5(code || email)';

create or replace function testing.guess(
  first integer, addresses integer, codes integer, guesses_an_hour integer, seed float8)
  returns table (guesses integer, compared integer, most integer, won integer)
  language plpgsql as $$
declare
  victim text;
  mail jsonb;
  of_victim integer;
begin
  perform setseed(seed);
  guesses := 0;
  compared := 0;
  most := 0;
  won := 0;
  for address in first .. first + addresses - 1 loop
    victim := 'victim' || address || '@example.com';
    for hour in 0 .. 3 loop
      -- The pace of all guesses together is another limit.
      delete from private.rate_buckets;
      for request in 1 .. 4 loop
        mail := jsonb_build_object('id', gen_random_uuid(), 'to', victim, 'topic', 'sign_up_code',
          'sealed', 'x');
        begin
          perform api.signup_request(victim,
            testing.code_digest(victim, floor(random() * codes)::integer),
            'request-' || gen_random_uuid(), mail, mail);
        exception when sqlstate 'PT429' then
          null;
        end;
      end loop;
      for guess in 1 .. guesses_an_hour loop
        guesses := guesses + 1;
        if exists (select from api.signup_confirm(victim,
          testing.code_digest(victim, (hour * guesses_an_hour + guess) % codes),
          encode(sha256(gen_random_uuid()::text::bytea), 'hex'), 'guess-' || gen_random_uuid())) then
          won := won + 1;
        end if;
      end loop;
      perform testing.move_clock('1 hour');
    end loop;
    select sum(s.tries + s.tries_elsewhere) into of_victim from private.signups s where s.email = victim;
    compared := compared + of_victim;
    most := greatest(most, of_victim);
  end loop;
  return next;
end $$;`
