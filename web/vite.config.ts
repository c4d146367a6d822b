import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'
import { firstPaint } from './dev/first_paint_plugin'

// `npm run dev` shows the sources. What a fathomd answers comes from FATHOM_URL, whose certificate is not looked at, and is
// asked with FATHOM_DEV_TOKEN, so that nobody needs to sign in.
const token = process.env.FATHOM_DEV_TOKEN
const fathomd = {
  target: process.env.FATHOM_URL ?? 'https://127.0.0.1:8443',
  secure: false,
  ...(token ? { headers: { Authorization: `Bearer ${token}` } } : {}),
}

export default defineConfig({
  plugins: [react(), firstPaint()],
  server: {
    port: 5173,
    proxy: Object.fromEntries(['/api', '/metrics', '/healthz', '/readyz', '/openapi.json'].map((path) => [path, fathomd])),
  },
  build: {
    target: 'es2022',
    // The server's content security policy allows no data: fonts and no inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
  },
  test: {
    // Other tests may have the machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A browser is imitated only where a test draws something: setting one up takes longer than most tests.
    projects: [
      { extends: true, test: { name: 'logic', environment: 'node', setupFiles: ['tests/web_crypto.ts'], include: ['src/**/*.test.ts'] } },
      { extends: true, test: { name: 'drawn', environment: 'jsdom', setupFiles: ['tests/browser_parts.ts'], include: ['src/**/*.test.tsx'] } },
    ],
  },
})
