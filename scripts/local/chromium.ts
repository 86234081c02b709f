/**
 * Chromium without anything that calls home. It ends with the process that started it.
 */
import type { BrowserServer } from 'playwright-core'
import { chromium } from 'playwright-core'
import { findBrowser } from './browser-binary.ts'

/**
 * Only the last list that Chromium is given counts, so this one repeats what Playwright turns off. The
 * popups of the address bar are pages of their own, loaded again for every window: a third of all work.
 */
const featuresOff = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

/** Starts a headless browser that any process of this machine can control by its address. */
export async function launchChromium(): Promise<BrowserServer> {
  return chromium.launchServer({
    ...(await findBrowser()),
    host: '127.0.0.1',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${featuresOff.join(',')}`,
    ],
  })
}
