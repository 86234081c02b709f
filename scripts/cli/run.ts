/** Runs one command: reads its words, opens the account when it is needed, and turns errors into exit codes. */
import { parseArgs } from 'node:util'
import { AccountError } from '../client/account-error.ts'
import { type Account, createClient } from '../client/index.ts'
import { accountCommands } from './account-commands.ts'
import { clientOptions } from './client-options.ts'
import { type Call, type Command, UsageError } from './command.ts'
import { connectCommands } from './connect.ts'
import { curlCommands } from './curl-command.ts'
import { demoCommands } from './demo-command.ts'
import { exitCodeOf } from './exit-codes.ts'
import { listenCommands } from './listen-command.ts'
import { loginCommands } from './login-commands.ts'
import { mailCommands } from './mail-commands.ts'
import { mcpCommands } from './mcp-proxy.ts'
import { payCommands } from './pay-commands.ts'
import { openScreen, type Screen } from './screen.ts'
import { vaultCommands } from './vault-commands.ts'

/** All commands by name, in the order of the help. */
export const commands: Readonly<Record<string, Command>> = {
  ...loginCommands,
  ...demoCommands,
  ...payCommands,
  ...curlCommands,
  ...accountCommands,
  ...listenCommands,
  ...mailCommands,
  ...vaultCommands,
  ...connectCommands,
  ...mcpCommands,
}

/** Everything from outside. */
export type Outside = Pick<Call, 'env' | 'fetch' | 'now' | 'pause' | 'signal'> & {
  /** Screen of the process if absent. */
  screen?: Screen
}

/** Runs the program with these words; its answer is the exit code. */
export async function run(argv: readonly string[], outside: Outside): Promise<number> {
  const [name = '', ...rest] = argv
  const screen = outside.screen ?? openScreen(argv.includes('--json'), outside.signal)
  const command = commands[name]
  const isHelp = rest.includes('--help') || rest.includes('-h')
  if (name === 'completion') return complete(rest[0], screen)
  if (!command || isHelp) {
    const text = command ? helpOf(name, command) : overview()
    const isAsked = command !== undefined || ['', 'help', '--help', '-h'].includes(name)
    if (isAsked) console.log(text)
    else screen.say(`there is no command ${name}\n\n${text}`)
    return isAsked ? 0 : 2
  }
  try {
    const options = { json: { type: 'boolean' }, ...command.options } as const
    const { values, positionals } = wordsIn(rest, options)
    const account = accountOf(outside)
    return await command.run({ ...outside, words: positionals, values, screen, account })
  } catch (error) {
    report(error, screen, name)
    return exitCodeOf(error)
  }
}

function wordsIn(args: string[], options: NonNullable<Command['options']>) {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function accountOf(outside: Outside): () => Account {
  let account: Account | undefined
  return () => {
    account ??= createClient({ ...clientOptions(outside), fetch: outside.fetch })
    return account
  }
}

function report(error: unknown, screen: Screen, name: string): void {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof AccountError) {
    const { code, hint, details, requestId } = error
    const told = [`${code}: ${message}`, hint, requestId && `request ${requestId}`]
    const answer = { error: code, message, hint, details, request_id: requestId }
    if (screen.isJson) screen.show(answer, () => message)
    else screen.say(told.filter(Boolean).join('\n'))
    return
  }
  if (screen.isJson) screen.show({ error: 'failed', message }, () => message)
  else screen.say(error instanceof UsageError ? `${message}; see aoa ${name} --help` : message)
}

function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  const lines = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`,
  )
  return `aoa <command> [--json] [--help]

An account for AI agents: money, mail and logins within limits that its owner sets. The limits are kept by the
service, not by this program.

${lines.join('\n')}
  ${'completion'.padEnd(width)}  print the completion of bash, zsh or fish

AOA_API_KEY and AOA_BASE_URL stand for a login, and AOA_DEVICE_ID names this computer to the account.

Exit codes: 0 done, 1 failed, 2 wrong words, 3 not logged in or not allowed, 4 needs a confirmation,
5 over a limit, 6 try again, 7 money may have moved.`
}

function helpOf(name: string, { usage, summary, help, examples }: Command): string {
  const parts = [
    `aoa ${name} ${usage}`.trim(),
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    help,
  ]
  const shown = examples.map((line) => `  ${line}`).join('\n')
  return [...parts, `--json      answer as JSON\n\n${shown}`].filter(Boolean).join('\n\n')
}

function complete(shell: string | undefined, screen: Screen): number {
  const names = Object.keys(commands).join(' ')
  const scripts: Readonly<Record<string, string>> = {
    bash: `complete -W "${names}" aoa`,
    zsh: `compdef '_arguments "1: :(${names})" "*: :_files"' aoa`,
    fish: `complete -c aoa -f -n __fish_use_subcommand -a "${names}"`,
  }
  const script = scripts[shell ?? '']
  if (script === undefined) {
    screen.say('completion takes bash, zsh or fish')
    return 2
  }
  console.log(script)
  return 0
}
