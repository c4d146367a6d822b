/** The commands that enrol a center, for a shell there. The token goes through a file: arguments are seen by everybody. */
export function enrolCommand(host: string, token: string): string {
  return [
    `(umask 077; printf '%s' '${token}' > center.token)`,
    `fathom-agent enrol --server ${host}:8444 --ca ca.pem --token-file center.token --state-dir /var/lib/fathom-agent`,
    'fathom-agent run --state-dir /var/lib/fathom-agent --config /etc/fathom/agent.toml',
  ].join('\n')
}
