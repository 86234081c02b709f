/** The passphrase of a sealed file. */
import { readFileSync } from 'node:fs'

const lengthMin = 12

/** Reads a passphrase from the first line of a file. */
export function readPassphrase(path: string | undefined): string {
  if (path === undefined) throw new Error('--passphrase-file is missing')
  const [line = ''] = readFileSync(path, 'utf8').split(/\r?\n/)
  return demandLong(line)
}

/** Returns the passphrase. Throws a sentence if it is too short. */
export function demandLong(passphrase: string): string {
  if (passphrase.length >= lengthMin) return passphrase
  throw new Error(`the passphrase has to have ${lengthMin} characters or more`)
}
