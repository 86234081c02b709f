/** Looks at everything that a deployment depends on before anything is made. */
import { checkCloudflare } from './check-cloudflare.ts'
import { checkDatabase } from './check-database.ts'
import { checkSupabase } from './check-supabase.ts'
import { checkWorkers } from './check-workers.ts'
import { type Finding, unknown, well, wrong } from './finding.ts'
import type { PlatformAccess } from './platform-api.ts'
import type { Credentials, DeploySettings } from './settings.ts'
import type { SupabaseProject } from './supabase.ts'

/** Parts that the doctor looks at. */
export type Patient = {
  settings: DeploySettings
  credentials: Credentials
  cloudflare: PlatformAccess
  supabase: SupabaseProject
}

const nodeMajorMin = 22

/** Returns all findings. */
export async function examine(patient: Patient): Promise<Finding[]> {
  const { settings, credentials, cloudflare, supabase } = patient
  const found = await Promise.all([
    checkCloudflare(cloudflare, settings),
    checkWorkers(cloudflare, settings),
    checkSupabase(supabase),
    checkDatabase(credentials.databaseUrl, supabase),
  ])
  return [checkNode(process.versions.node), ...found.flat(), ...checkChains(settings)]
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
