/** The operations as `npm run deploy -- --target supabase` writes them, behind the fake front. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { contracts } from '../../../functions/contracts.ts'
import { planEdgeFunctions, secretsOf } from '../../../scripts/deploy/edge/plan.ts'
import { envText, valuesFile, writeEdgeFunctions } from '../../../scripts/deploy/edge/write.ts'
import { privateKey } from './door.ts'
import { type Front, openFront } from './fake-supabase-front.ts'

/** Writes them into the directory and serves them, with the values that the files have. */
export async function serveWritten(
  directory: string,
  given: Readonly<Record<string, string>>,
  log: (line: string) => void,
): Promise<Front> {
  const values: Record<string, string> = { ...given, REMOTE_CALLS_PRIVATE_KEY: privateKey }
  const functions = planEdgeFunctions(contracts, values)
  await writeEdgeFunctions(directory, 'abcdefghijklmnopqrst', functions)
  const folder = join(directory, 'supabase')
  const secrets = secretsOf(functions).map((name) => [name, values[name] ?? ''] as const)
  const publicValues = readFileSync(join(folder, valuesFile), 'utf8')
  return openFront(folder, [publicValues, envText(Object.fromEntries(secrets))], log)
}
