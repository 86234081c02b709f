/**
 * The steps of a deployment, in their order. Each looks at what is there and does the rest, so a run that was
 * killed anywhere is continued by the next one, and a second run changes nothing.
 */
import { existsSync } from 'node:fs'
import { outside } from '../program/outside.ts'
import type { SecretTexts } from '../serve/new-secrets.ts'
import { holdsKeys, judgeLooks, openRelayers, readyDatabase, startOfNews } from './database.ts'
import { examine } from './doctor.ts'
import { type Finding, lineOf } from './finding.ts'
import { openSecrets, secretsPath } from './keys.ts'
import { type PlannedWorker, possibleWorkers } from './plan.ts'
import type { PlatformAccess } from './platform-api.ts'
import type { Workers } from './ready-workers.ts'
import type { Credentials, DeploySettings } from './settings.ts'
import { smokeTest } from './smoke.ts'
import { publishableKey, type SupabaseProject } from './supabase.ts'
import { openTokens, tokensPath } from './tokens.ts'
import { type Api, patternsOf, removeWorker } from './upload/account.ts'
import { beforePath, forgetBefore, isUnfinished, rollBack } from './upload/before.ts'
import { secretsFor, valuesFor } from './values.ts'
import { handMailTo } from './zone.ts'

/** Everything that a run works with. */
export type Deployment = {
  settings: DeploySettings
  credentials: Credentials
  cloudflare: PlatformAccess
  supabase: SupabaseProject
  workers: Workers
  passphrase: string
  /** True if the operator has said that a copy of the secrets is kept elsewhere. */
  confirmEscrow: (path: string) => Promise<boolean>
  /** The network as the smoke test uses it. */
  fetch: typeof fetch
  now: () => Date
  pause: (milliseconds: number) => Promise<void>
  say: (line: string) => void
  signal: AbortSignal
}

/** Runs all steps. Returns the exit code; what went wrong has been said. */
export async function deploy(deployment: Deployment): Promise<number> {
  const { settings, credentials, supabase, passphrase, say, signal } = deployment
  if (!(await isWell(deployment))) return 1
  signal.throwIfAborted()

  const made = await keepSecrets(deployment)
  if (!made) return 1
  signal.throwIfAborted()

  say('database')
  await readyDatabase(credentials.databaseUrl, supabase, say)
  signal.throwIfAborted()

  say('tokens')
  const tokens = await openTokens(supabase, settings.file, passphrase, deployment)
  const publishable = await publishableKey(supabase)
  say(`tokens last until ${tokens.expiresAt.toISOString().slice(0, 10)}; a run before renews them`)
  signal.throwIfAborted()

  await openRelayersOf(deployment, made)
  signal.throwIfAborted()

  const values = valuesFor(settings, made, publishable)
  const plans = await deployment.workers.planned(values, settings.workers, settings.name)
  const secrets = secretsFor({ settings, credentials, made, tokens })
  const old = await bringWorkers(deployment, plans, secrets)
  if (!old) return 1
  const isTaken = await takeMail(deployment, plans)
  await removeOld(deployment, old, isTaken)
  say(`ready: ${settings.baseUrl}/web/join opens an account`)
  return 0
}

/** Says all findings. Returns false if one of them stops the deployment. */
export async function isWell(deployment: Deployment): Promise<boolean> {
  const { say } = deployment
  say('doctor')
  const found: Finding[] = await examine(deployment)
  for (const finding of found) say(`  ${lineOf(finding)}`)
  const wrong = found.filter(({ state }) => state === 'wrong').length
  if (wrong > 0) say(`${wrong} to put right; nothing was changed`)
  return wrong === 0
}

/** Returns the secrets; undefined if nobody confirms that they are kept elsewhere. */
async function keepSecrets(deployment: Deployment) {
  const { settings, credentials, passphrase, confirmEscrow, say } = deployment
  say('keys')
  const isHeld = () => holdsKeys(credentials.databaseUrl)
  const { secrets, isNew } = await openSecrets(
    settings.file,
    passphrase,
    isHeld,
    settings.runsAtSupabase,
  )
  const path = secretsPath(settings.file)
  say(`${path} ${isNew ? 'made' : 'opened'}`)
  // Tokens are made after a confirmation only.
  if (existsSync(tokensPath(settings.file)) || (await confirmEscrow(path))) return secrets
  say(`Keep a copy of ${path} and its passphrase elsewhere, then run this again with --escrowed.`)
  return undefined
}

async function openRelayersOf(
  { settings, credentials, say, fetch, now }: Deployment,
  made: SecretTexts,
): Promise<void> {
  say('relayers')
  const chains = Object.keys(settings.rpc)
  const lacking = await openRelayers(
    credentials.databaseUrl,
    chains,
    made['CUSTODY_ROOT_KEYS'] ?? '',
    { ...outside, fetch, now },
  )
  for (const { chain, request } of lacking) say(`Send gas to the relayer of ${chain}: ${request}`)
}

/**
 * Uploads what differs and asks the service. Whatever goes wrong brings all workers back; Ctrl-C does not. Returns
 * the workers that are needed no more; undefined if it went wrong.
 */
async function bringWorkers(
  deployment: Deployment,
  plans: readonly PlannedWorker[],
  secrets: (name: string) => string,
): Promise<string[] | undefined> {
  const { settings, credentials, workers, say, signal } = deployment
  const before = beforePath(settings.file)
  const api = accessOf(deployment)
  say('workers')
  if (isUnfinished(before)) say('a run before did not end; this one goes on from there')
  try {
    const { name } = settings
    const { uploaded, kept, old } = await workers.upload({ plans, name, secrets, api, before, say })
    say(`${uploaded.length} workers uploaded, ${kept.length} as they were`)
    say('smoke test')
    const looks = await watchOf(credentials.databaseUrl, isUnfinished(before))
    const failures = await smokeTest({ ...deployment, looks, baseUrl: settings.baseUrl })
    if (failures.length === 0) {
      forgetBefore(before)
      return old
    }
    for (const failure of failures) say(`  WRONG ${failure}`)
  } catch (error) {
    signal.throwIfAborted()
    say(`  WRONG ${error instanceof Error ? error.message : String(error)}`)
  }
  await takeBack(deployment)
  return undefined
}

/** Returns the question for what was found since now. Where no worker was changed, the documents say enough. */
async function watchOf(databaseUrl: string, isChanged: boolean) {
  if (!isChanged) return async () => undefined
  const since = await startOfNews(databaseUrl)
  return () => judgeLooks(databaseUrl, since)
}

/** Makes the workers what they were before a deployment that has not ended. Returns the exit code. */
export async function takeBack(
  deployment: Pick<Deployment, 'settings' | 'cloudflare' | 'say'>,
): Promise<number> {
  const { settings, say } = deployment
  const path = beforePath(settings.file)
  if (!isUnfinished(path)) {
    say(`nothing to roll back: without ${path}, the last run has ended`)
    return 0
  }
  say('rollback')
  const isWhole = await rollBack(accessOf(deployment), path, say)
  say(
    isWhole
      ? 'rolled back: the workers are as before; the database keeps its migrations'
      : `not all is as before: put right what is said above, then run npm run deploy -- --rollback, which goes by ${path}`,
  )
  return isWhole ? 0 : 1
}

function accessOf({ settings, cloudflare }: Pick<Deployment, 'settings' | 'cloudflare'>): Api {
  return { ...cloudflare, accountId: settings.accountId }
}

/** A worker that is rolled back takes no mail, so the rule comes last. Returns false if its operator has to set it. */
async function takeMail(
  { settings, cloudflare, say }: Deployment,
  plans: readonly PlannedWorker[],
): Promise<boolean> {
  say('mail')
  let isTaken = true
  for (const { name } of plans.filter(({ takesMail }) => takesMail)) {
    const todo = await handMailTo(cloudflare, settings, name)
    say(todo ?? `mail to ${settings.mailDomain} goes to ${name}`)
    isTaken &&= todo === undefined
  }
  return isTaken
}

/** Removes workers that have no function of this version. One that may still be asked for something stays. */
async function removeOld(
  deployment: Deployment,
  old: readonly string[],
  isTaken: boolean,
): Promise<void> {
  const { settings, say, signal } = deployment
  const api = accessOf(deployment)
  const possible = await possibleWorkers(settings.name)
  const takers = possible.flatMap(({ name, takesMail }) => (takesMail ? [name] : []))
  for (const name of old) {
    if (!isTaken && takers.includes(name)) {
      say(`${name}: kept, because mail may still go to it; remove it after the change of the rule`)
      continue
    }
    try {
      const patterns = await patternsOf(api, name)
      if (patterns?.length !== 0) throw new Error('it may answer in another zone')
      await removeWorker(api, name)
      say(`${name}: removed, because no function of this version is in it`)
    } catch (error) {
      signal.throwIfAborted()
      const reason = error instanceof Error ? error.message : String(error)
      say(`${name}: not removed: ${reason}; do it in the dashboard if nobody needs it`)
    }
  }
}
