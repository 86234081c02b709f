/**
 * Checks a consent receipt that consent_receipt returned, as a third party would. It asks neither the
 * service, nor its database, nor any network.
 */
import { parseArgs } from 'node:util'
import {
  type Claims,
  checkReceipt,
  claimsOf,
  readKeys,
  readReceipt,
  signerOf,
} from './verify-receipt/check.ts'
import { conclude, readFile } from './verify-receipt/verifier.ts'

const help = `npm run verify-receipt -- FILE [--keys JWKS_FILE]

Checks an answer of consent_receipt, or the receipt alone, offline. Prints every check as a line and
ends with 0 when all of them hold, else with 1.

--keys JWKS_FILE  the keys that you trust, once saved from the service's receipt-keys.json; without
                  them the keys in the file are used, and the line at the end names the one that signed`

process.exitCode = await run()

async function run(): Promise<number> {
  try {
    const options = { keys: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    if (values.help) {
      console.log(help)
      return 0
    }
    const [file] = positionals
    if (file === undefined || positionals.length > 1) throw new Error('give one FILE; see --help')
    return await verify(file, values.keys)
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    return 1
  }
}

async function verify(file: string, keysFile: string | undefined): Promise<number> {
  const read = readFile(file, readReceipt)
  const given = keysFile === undefined ? undefined : readFile(keysFile, readKeys)
  const stated = claimsOf(read.receipt)
  const whose = given ? '' : `, which the file itself brings: compare it with ${stated.iss}`
  return conclude(
    await checkReceipt(read, given),
    () => `${sentenceOf(stated)}\nSigned by the key ${signerOf(read.receipt)}${whose}.`,
  )
}

function sentenceOf({ level, decided_at: at, terms, batch }: Claims): string {
  const { type, payment_id: payment, mandate_id: mandate } = terms
  const what = type === 'mandate' ? `mandate ${String(mandate)}` : `payment ${String(payment)}`
  const together = batch ? `, one of ${batch.leaves.length} approved at once,` : ''
  const how =
    level === 'user_passkey'
      ? "The owner's passkey signed the terms of"
      : 'The service states that the owner, signed in, approved the terms of'
  return `${how} ${what}${together} on ${at}.`
}
