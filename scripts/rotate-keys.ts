/**
 * Moves every key that an older root wraps under the root that seals, while the service runs. It does not
 * touch the data that those keys seal. It can be interrupted and run again at any time.
 */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Rejection } from '../shared/contract/errors.ts'
import { addRoots, reportCase } from './rotate-keys/rotate.ts'
import { openCases, readRotationSettings } from './rotate-keys/settings.ts'

const help = `npm run rotate-keys -- [--dry-run] [--data .local] [--add-root]

Wraps the keys of accounts (vault and mail) and of wallets (custody) anew under the root that seals,
and tells which versions no key is left under. Ends with 0 when all keys are there, with 1 when some
are not, with 130 after Ctrl-C; it can be run again any time, and two at once do no harm.

Connects with VAULT_DATABASE_KEY and VAULT_ROOT_KEYS, and where given CUSTODY_DATABASE_KEY and
CUSTODY_ROOT_KEYS, over SUPABASE_URL. Without SUPABASE_URL it takes those of the local world.

--dry-run   opens every key and wraps it anew, but stores nothing
--data      directory of the local world
--add-root  draws new roots for the local world, which its functions know after the next start`

const options = {
  help: { type: 'boolean', short: 'h' },
  'dry-run': { type: 'boolean', default: false },
  'add-root': { type: 'boolean', default: false },
  data: { type: 'string', default: '.local' },
} as const

process.exitCode = await run()

async function run(): Promise<number> {
  try {
    const { values } = parseArgs({ options })
    if (values.help) console.log(help)
    else if (values['add-root']) {
      for (const line of addRoots(join(resolve(values.data), 'secrets.json'))) console.log(line)
    } else return await rotateAll(resolve(values.data), values['dry-run'])
    return 0
  } catch (error) {
    console.error(reasonOf(error))
    return 1
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const log = error instanceof Rejection ? error.refusal.log : undefined
  return log === undefined ? error.message : `${error.message}: ${log}`
}

async function rotateAll(directory: string, isDry: boolean): Promise<number> {
  const stopping = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopping.abort())
  const cases = await openCases(readRotationSettings(process.env, directory))
  if (cases.length === 0) throw new Error('no database key is given; see --help')
  let isDone = true
  for (const one of cases) {
    const isThere = await reportCase(one, { isDry, signal: stopping.signal })
    isDone &&= isThere
  }
  if (!stopping.signal.aborted) return isDone ? 0 : 1
  console.log('stopped; what is left is moved by the next run')
  return 130
}
