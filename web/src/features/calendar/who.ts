import { useSession } from '../../app/session'

/** Who is signed in, as far as it decides what they may cancel. */
export function useWho() {
  const { session, may } = useSession()
  return { isAdmin: may('manage_network'), identity: session.token_id }
}
