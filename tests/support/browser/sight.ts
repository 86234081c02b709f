/**
 * Looks for defects that a person would meet on a page: accessibility barriers, controls that the keyboard
 * cannot reach, sideways scroll. Each check runs on the page as it is shown, with its content security
 * policy in force.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import * as z from 'zod'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Returns the violations that axe finds, one line each with the places. */
export async function barriersOn(page: Page): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) !== 'object') await page.evaluate(`${axe};0`)
  const run = `axe.run(document, { runOnly: { type: 'tag', values: ${JSON.stringify(standards)} } })
    .then(({ violations }) => violations.map(({ id, nodes }) =>
      id + ': ' + nodes.map((node) => node.html + ' ' + node.failureSummary).join(' ')))`
  return z.array(z.string()).parse(await page.evaluate(run))
}

/** Returns the controls that Tab does not reach, and those that do not show their focus. */
export async function outOfReachOn(page: Page): Promise<string[]> {
  const count = z.int().parse(await page.evaluate(collectControls))
  await pressTab(page, count)
  // Controls that appeared during the first pass get a second pass.
  const missed = z.int().parse(await page.evaluate('leftToReach()'))
  if (missed > 0) await pressTab(page, count + missed)
  return z.array(z.string()).parse(await page.evaluate('missed()'))
}

async function pressTab(page: Page, controls: number): Promise<void> {
  for (let press = 0; press <= controls; press += 1) await page.keyboard.press('Tab')
}

/**
 * Script that collects the controls. A radio group is one stop of the keyboard. A control shows its focus
 * by a style that it does not have otherwise.
 */
const collectControls = `(() => {
  const look = (one) => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor } = getComputedStyle(one)
    return [outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor].join()
  }
  const group = (one) => one.type === 'radio' ? one.form?.action + one.name : one
  const all = [...document.querySelectorAll(
    'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]',
  )].filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled)
  const left = new Map(all.map((one) => [group(one), one]))
  const plain = new Map(all.map((one) => [one, look(one)]))
  const dim = []
  const reach = () => {
    const one = document.activeElement
    if (!plain.has(one) || !left.delete(group(one))) return
    const { outlineStyle, outlineWidth } = getComputedStyle(one)
    const ring = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
    if (!ring || look(one) === plain.get(one)) dim.push('dim: ' + one.outerHTML)
  }
  globalThis.leftToReach = () => left.size
  globalThis.missed = () => [...left.values()].map((one) => 'unreached: ' + one.outerHTML).concat(dim)
  document.addEventListener('focusin', reach)
  document.activeElement?.blur()
  return all.length
})()`

/** Returns the elements that stick out of the window, and tables that stick out of their container. */
export async function sidewaysOn(page: Page): Promise<string[]> {
  const script = `(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    const right = (one) => one.getBoundingClientRect().right
    const all = [...document.querySelectorAll(scrollWidth <= clientWidth ? 'table' : 'body *')]
    return all
      .filter((one) => right(one) > Math.min(clientWidth, right(one.parentElement)) + 0.5)
      .map((one) => one.outerHTML.slice(0, 120))
  })()`
  return z.array(z.string()).parse(await page.evaluate(script))
}
