import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react'
import { ApiError } from '../api/problem'
import { type Permission, readSession, type Session, signOut as askSignOut } from '../api/session'
import { setCsrfToken, setExpiryListener } from '../api/session_state'
import { SignInPage } from '../features/identity/sign_in/sign_in_page'
import { ErrorState, LoadingState } from '../ui/states'

interface SignedIn {
  session: Session
  may: (permission: Permission) => boolean
  /** Whether who is signed in leads the project. */
  leads: (project: string) => boolean
  /** Fails where the server could not be asked: then one is still signed in. */
  signOut: () => Promise<void>
}

const Context = createContext<SignedIn | null>(null)
const key = ['session']

/** What somebody was shown is not for whoever comes next. The session's own entry stays: it is being watched. */
function forget(client: QueryClient) {
  client.removeQueries({ predicate: (query) => query.queryKey[0] !== key[0] })
}

/**
 * Shows its children to whoever is signed in, and the sign-in to everybody else, at the same address: after signing in,
 * also after a session has expired, one is where one wanted to be.
 */
export function SessionGate({ children }: { children: ReactNode }) {
  const client = useQueryClient()
  const [hasExpired, setHasExpired] = useState(false)
  const query = useQuery({ queryKey: key, queryFn: readSession, staleTime: Infinity, refetchOnWindowFocus: false, retry: 1 })
  const session = query.data ?? null

  useEffect(() => {
    setExpiryListener(() => {
      setHasExpired(true)
      client.setQueryData(key, null)
    })
    return () => setExpiryListener(null)
  }, [client])

  const enter = useCallback((next: Session) => {
    forget(client)
    setCsrfToken(next.csrf_token)
    setHasExpired(false)
    client.setQueryData(key, next)
  }, [client])

  const signOut = useCallback(async () => {
    await askSignOut().catch((error: unknown) => {
      // A session that is over already needs no end.
      if (!(error instanceof ApiError && error.status === 401)) throw error
    })
    forget(client)
    setCsrfToken('')
    client.setQueryData(key, null)
  }, [client])

  // Set while rendering: the children's first requests need it before effects run.
  if (session) setCsrfToken(session.csrf_token)
  const value = useMemo(() => session && {
    session, signOut, may: (permission: Permission) => session.permissions.includes(permission),
    leads: (project: string) => session.projects[project] === 'lead',
  }, [session, signOut])

  if (query.isPending) return <LoadingState />
  if (query.isError) return <main style={{ padding: 24 }}><ErrorState error={query.error} retry={() => void query.refetch()} /></main>
  if (!value) return <SignInPage hasExpired={hasExpired} onSignedIn={enter} />
  return <Context value={value}>{children}</Context>
}

export function useSession(): SignedIn {
  const value = useContext(Context)
  if (!value) throw new Error('outside SessionGate')
  return value
}
