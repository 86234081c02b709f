/** The frame of a program that takes options: its help, and one sentence for whatever goes wrong. */
import { type ParseArgsConfig, parseArgs } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>
type Values<Given extends Options> = ReturnType<typeof parseArgs<{ options: Given }>>['values']

/** Runs work with the values of the options, or prints the help. Its answer is the exit code. */
export async function runFramed<Given extends Options>(
  help: string,
  options: Given,
  work: (values: Values<Given>) => Promise<number>,
): Promise<void> {
  try {
    const isHelp = process.argv.some((word) => word === '--help' || word === '-h')
    if (isHelp) console.log(help)
    else process.exitCode = await work(parseArgs<{ options: Given }>({ options }).values)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
