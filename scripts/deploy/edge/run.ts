/** `--target supabase`: what it would write, what it writes, and the secrets for the program that sets them. */
import { join } from 'node:path'
import { contracts } from '../../../functions/contracts.ts'
import { callsAddress } from '../../../shared/remote/calls.ts'
import type { Texts } from '../../serve/bindings.ts'
import { heldSecrets } from '../keys.ts'
import type { DeploySettings } from '../settings.ts'
import { publishableKey, type SupabaseProject } from '../supabase.ts'
import { heldTokens } from '../tokens.ts'
import { secretsFor, valuesFor } from '../values.ts'
import { type EdgeFunction, planEdgeFunctions, secretsOf } from './plan.ts'
import { envText, valuesFile, writeEdgeFunctions } from './write.ts'

/** Throws one sentence unless the settings let functions at Supabase call the workers. */
export function demandTarget(target: string, { file, runsAtSupabase }: DeploySettings): void {
  if (target !== 'supabase') throw new Error(`--target has to be supabase, not ${target}`)
  if (runsAtSupabase) return
  throw new Error(
    `${file}: set supabase_functions = true and run npm run deploy, so that workers take calls from Supabase`,
  )
}

/** Says what would be written. Returns the exit code. */
export function sayEdgePlan(settings: DeploySettings, say: (line: string) => void): number {
  const functions = planEdgeFunctions(contracts, valuesFor(settings, {}, ''))
  say(`would write ${functions.length} functions into dist/supabase:`)
  for (const { folder, vars, secrets, calls } of functions) {
    say(folder)
    say(`  calls at ${callsOf(settings)}: ${calls.join(', ') || 'none'}`)
    say(`  vars: ${Object.keys(vars).join(', ')}`)
    say(`  secrets: ${secrets.join(', ')}`)
  }
  return 0
}

/** Input of writing the target. */
export type Writing = {
  settings: DeploySettings
  passphrase: string
  supabase: SupabaseProject
  fetch: typeof fetch
  /** Folder that gets `supabase/`. */
  outdir: string
  say: (line: string) => void
}

/** Writes the functions, and says which commands bring them to Supabase. Returns the exit code. */
export async function writeTarget(writing: Writing): Promise<number> {
  const { settings, passphrase, supabase, outdir, say } = writing
  const made = await heldSecrets(settings.file, passphrase)
  await demandDoor(writing)
  const values = valuesFor(settings, made, await publishableKey(supabase))
  const functions = planEdgeFunctions(contracts, values)
  await writeEdgeFunctions(outdir, settings.project, functions)
  say(
    `${functions.length} functions written into ${join(outdir, 'supabase')}; bring them there with`,
  )
  const set = `supabase secrets set --project-ref ${settings.project} --env-file`
  say(`  ${set} ${join(outdir, 'supabase', valuesFile)}`)
  say(
    `  npm run -s deploy -- --target supabase --secrets --settings ${settings.file} --passphrase-file FILE | ${set} /dev/stdin`,
  )
  say(`  supabase functions deploy --project-ref ${settings.project} --workdir ${outdir} --use-api`)
  return 0
}

/** Asks the workers for an answer that only the function that takes calls gives. */
async function demandDoor({ settings, fetch }: Writing): Promise<void> {
  const { status } = await fetch(callsOf(settings), { method: 'POST' })
  if (status === 401) return
  throw new Error(
    `${callsOf(settings)} answers ${status}, so no worker takes calls from Supabase: run npm run deploy first`,
  )
}

/** Returns the secrets as lines of an env file. Throws if a run of the deployment has to come first. */
export async function secretLines(settings: DeploySettings, passphrase: string): Promise<string> {
  const made = await heldSecrets(settings.file, passphrase)
  const tokens = await heldTokens(settings.file, passphrase)
  // No operation has these.
  const credentials = { mailToken: '', turnstileSecret: '' }
  const secretNamed = secretsFor({ settings, credentials, made, tokens })
  const functions: EdgeFunction[] = planEdgeFunctions(contracts, {})
  const secrets: Texts = Object.fromEntries(
    secretsOf(functions).map((name) => [name, secretNamed(name)]),
  )
  return envText(secrets)
}

function callsOf({ baseUrl }: DeploySettings): string {
  return callsAddress({ BASE_URL: baseUrl })
}
