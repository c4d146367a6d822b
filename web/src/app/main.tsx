import '@mantine/core/styles.css'
import './base.css'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from '../api/problem'
import { LanguageProvider, loadTexts, preferredLanguage } from '../i18n/language'
import { ZoneProvider } from '../ui/zone'
import { RefreshingClient } from './auto_refresh'
import { LiveProvider } from './live'
import { Outlet } from './outlet'
import { SessionGate } from './session'
import { Shell } from './shell/shell'
import { theme, variables } from './theme'

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
setNonce(nonce) // for the styles that a modal sets while the page behind it must not scroll

const schemes = localStorageColorSchemeManager({ key: 'fathom.scheme' })

const client = new RefreshingClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // What the server refuses, it refuses again; what it could not do for now is worth another try.
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
})

async function start() {
  const language = preferredLanguage()
  const texts = await loadTexts(language)
  const root = document.getElementById('root')
  if (!root) throw new Error('index.html has no #root')
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={variables} colorSchemeManager={schemes} defaultColorScheme="auto" getStyleNonce={() => nonce}>
        <LanguageProvider language={language} {...texts}>
          <ZoneProvider>
            <QueryClientProvider client={client}>
              <SessionGate>
                <LiveProvider>
                  <Shell><Outlet /></Shell>
                </LiveProvider>
              </SessionGate>
            </QueryClientProvider>
          </ZoneProvider>
        </LanguageProvider>
      </MantineProvider>
    </StrictMode>,
  )
}

void start()
