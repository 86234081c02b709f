/**
 * Lists and changes what relayers carry for one account on each chain: the number of transfers in 24 hours,
 * that for young accounts, and the smallest transfer that is relayed. Changes take effect with the next payment.
 */
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { type GasTerms, readGasTerms, setGasTerms } from './operator/provision.ts'

const help = `node scripts/gas-terms.ts [--chain <id>] [--calls <n>] ...

Without a chain it lists the terms of all; the row of chain 0 is for those without one of their own.
Connects to the database that DATABASE_URL names.

--chain        the chain's number, such as 8453; 0 for all that have no terms of their own
--calls        how many transfers of one account relayers carry in 24 hours
--young-hours  how long an account is young
--young-calls  the same as --calls while it is
--least-usd-micros  the least transfer that is relayed, in millionths of a US dollar

What is not given stays as it was.`

const number = { type: 'string' } as const
const options = {
  help: { type: 'boolean', short: 'h' },
  chain: number,
  calls: number,
  'young-hours': number,
  'young-calls': number,
  'least-usd-micros': number,
} as const

process.exitCode = await run()

async function run(): Promise<number> {
  try {
    const { values } = parseArgs({ options })
    if (values.help) {
      console.log(help)
      return 0
    }
    const { DATABASE_URL: url } = process.env
    if (!url) throw new Error('DATABASE_URL is not set; see --help')
    await tell(url, values)
    return 0
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    return 1
  }
}

type Values = { [Name in Exclude<keyof typeof options, 'help'>]?: string | undefined }

async function tell(url: string, { chain, ...given }: Values): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice() {} })
  try {
    if (chain !== undefined) await setGasTerms(sql, wholeOf('chain', chain), termsOf(given))
    else if (Object.keys(given).length > 0) throw new Error('--chain says for which; see --help')
    for (const row of await readGasTerms(sql)) console.log(row)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

function termsOf(given: Omit<Values, 'chain'>): GasTerms {
  const read = (name: keyof typeof given) => {
    const text = given[name]
    return text === undefined ? undefined : wholeOf(name, text)
  }
  return {
    callsPerDay: read('calls'),
    youngHours: read('young-hours'),
    youngCallsPerDay: read('young-calls'),
    leastUsdMicros: read('least-usd-micros'),
  }
}

function wholeOf(name: string, text: string): bigint {
  if (!/^[0-9]{1,30}$/.test(text)) throw new Error(`--${name} is a whole number; see --help`)
  return BigInt(text)
}
