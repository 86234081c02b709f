/**
 * Plays of many seeds, each in a world of its own. A failing play is shortened and printed as a script,
 * which PLAY_SCRIPT=<file> plays again; SEED=<number> starts at a seed.
 */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { closing } from '../ending.ts'
import { type Action, lineOf } from './actions.ts'
import { generate, type Script } from './generate.ts'
import { type Broken, type Looking, perform } from './perform.ts'
import { openPlay } from './play.ts'
import { shrunk } from './shrink.ts'

/** Reads a script that was printed before, if one is named. */
export function givenScript(): Script | undefined {
  const file = process.env['PLAY_SCRIPT']
  if (file === undefined) return undefined
  const [first, ...rest] = readFileSync(file, 'utf8').trim().split('\n')
  const setting = z.custom<Script['setting']>().parse(JSON.parse(first ?? ''))
  return { setting, actions: rest.map((line) => z.custom<Action>().parse(JSON.parse(line))) }
}

/** Plays a script in a new world. */
export function playOnce(
  { setting, actions }: Script,
  looking?: Looking,
): Promise<Broken | undefined> {
  return closing(async () => perform(await openPlay(setting), actions, looking))
}

/** Plays the script of a seed. Returns what it broke, with a short script that breaks the same. */
export async function playSeed(
  seed: number,
  count: number,
  shrinkMilliseconds: number,
): Promise<string | undefined> {
  const { theme, ...script } = generate(seed, count)
  const broken = await playOnce(script)
  if (!broken) return undefined
  return `SEED=${seed} (${theme})\n${await explained(script, broken, shrinkMilliseconds)}`
}

/** Returns the failure with the shortest script found in the time. */
export async function explained(
  { setting, actions }: Script,
  broken: Broken,
  shrinkMilliseconds: number,
): Promise<string> {
  const kind = kindOf(broken)
  const looking = { every: 5, toEnd: kindsAtEnd.includes(kind) }
  let last = broken
  const fails = async (shorter: readonly Action[]) => {
    const found = await playOnce({ setting, actions: [...shorter] }, looking)
    if (!found || kindOf(found) !== kind) return false
    last = found
    return true
  }
  const least = await shrunk(
    actions.slice(0, broken.after),
    (action) => action.do,
    fails,
    shrinkMilliseconds,
  )
  return [last.what, JSON.stringify(setting), ...least.map(lineOf)].join('\n')
}

/** Invariants that are checked only at the end. */
const kindsAtEnd = ['final', 'told', 'gas']

function kindOf({ what }: Broken): string {
  return what.split(':')[0] ?? what
}
