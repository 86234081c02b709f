/** Looks at everything that a deployment depends on before anything is made. */
import { checkCloudflare } from './check-cloudflare.ts'
import { checkDatabase } from './check-database.ts'
import { checkSupabase } from './check-supabase.ts'
import { checkWorkers } from './check-workers.ts'
import { type Finding, unknown, warnOfEnd, well, wrong } from './finding.ts'
import type { PlatformAccess } from './platform-api.ts'
import type { Credentials, DeploySettings } from './settings.ts'
import type { SupabaseProject } from './supabase.ts'
import { endOfTokens } from './tokens.ts'

/** Parts that the doctor looks at. */
export type Patient = {
  settings: DeploySettings
  credentials: Credentials
  cloudflare: PlatformAccess
  supabase: SupabaseProject
  /** Passphrase of the secrets; empty where only the doctor runs and is not given it. */
  passphrase: string
  now: () => Date
}

const nodeMajorMin = 22

/** Returns all findings. */
export async function examine(patient: Patient): Promise<Finding[]> {
  const { settings, credentials, cloudflare, supabase } = patient
  const found = await Promise.all([
    checkCloudflare(cloudflare, settings, patient.now()),
    checkWorkers(cloudflare, settings),
    checkSupabase(supabase),
    checkDatabase(credentials.databaseUrl, supabase),
  ])
  const tokens = await checkTokens(patient)
  return [checkNode(process.versions.node), ...found.flat(), ...tokens, ...checkChains(settings)]
}

/** The file is sealed, so without its passphrase nothing is said. */
async function checkTokens({ settings, passphrase, now }: Patient): Promise<Finding[]> {
  if (passphrase === '') return []
  const end = await endOfTokens(settings.file, passphrase)
  return end ? warnOfEnd('the last token of the database', end, now()) : []
}

function checkNode(version: string): Finding {
  const major = Number.parseInt(version, 10)
  return major >= nodeMajorMin
    ? well(`Node ${version}`)
    : wrong(`Node ${version} is too old: use ${nodeMajorMin} or newer`)
}

function checkChains({ rpc }: DeploySettings): Finding[] {
  const chains = Object.entries(rpc)
  if (chains.length === 0) {
    return [unknown('no chain is connected, so nothing can be paid: add endpoints to [rpc]')]
  }
  return chains
    .filter(([, urls]) => urls.length < 2)
    .map(([chain]) =>
      unknown(
        `${chain} has one endpoint, which is then believed alone: add one of another operator`,
      ),
    )
}
