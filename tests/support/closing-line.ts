/** Begins a run with its seed, and ends it with one line that a script can parse. */
import type { Reporter, TestModule, Vitest } from 'vitest/node'

export default class ClosingLine implements Reporter {
  onInit({ config }: Vitest): void {
    console.log(`SEED=${String(config.env['SEED'])}`)
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const passed = tests.filter((test) => test.result().state === 'passed').length
    // A file that could not be loaded, or an error outside files, has no test to be counted by.
    const broken = modules.filter((module) => module.errors().length > 0).length
    const failed = tests.length - passed + broken + errors.length
    console.log(`${passed} passed, ${failed} failed`)
  }
}
