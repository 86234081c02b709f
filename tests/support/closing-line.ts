/** Closes a run with one line that any script can read. */
import type { Reporter, TestModule } from 'vitest/node'

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const passed = tests.filter((test) => test.result().state === 'passed').length
    // A file that could not be loaded has no tests to count, and neither has an error outside them.
    const broken = modules.filter((module) => module.errors().length > 0).length
    const failed = tests.length - passed + broken + errors.length
    console.log(`${passed} passed, ${failed} failed`)
  }
}
