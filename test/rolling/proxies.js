// The proxies that the servers are restarted behind: their configurations, and how they are started.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** HAProxy asks for `/readyz` and sends a request to the next server if it cannot connect to the first. */
export const haproxy = {
  program: 'haproxy',
  async prepare(folder, port, [one, two]) {
    const file = join(folder, 'haproxy.cfg')
    await writeFile(
      file,
      `global
  maxconn 200
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout check 30s
  option redispatch
  retries 3
frontend in
  bind 127.0.0.1:${port}
  default_backend servers
backend servers
  balance roundrobin
  http-request set-header Host rolled
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host rolled
  http-reuse always
  server one 127.0.0.1:${one} check inter 200ms fall 1 rise 1
  server two 127.0.0.1:${two} check inter 200ms fall 1 rise 1
`,
    )
    return ['-db', '-f', file]
  },
}

/** nginx has no health checks: it learns of a closing server by its responses and by refused connections. */
export const nginx = {
  program: 'nginx',
  async prepare(folder, port, [one, two]) {
    const file = join(folder, 'nginx.conf')
    const temp = join(folder, 'temp')
    await mkdir(temp, { recursive: true })
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map(name => `${name}_temp_path ${temp};`)
      .join('\n  ')
    await writeFile(
      file,
      `daemon off;
pid ${join(folder, 'nginx.pid')};
error_log stderr crit;
events { worker_connections 200; }
http {
  access_log off;
  ${paths}
  upstream servers {
    server 127.0.0.1:${one} max_fails=0;
    server 127.0.0.1:${two} max_fails=0;
    keepalive 16;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://servers;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host rolled;
    }
  }
}
`,
    )
    return ['-c', file, '-p', folder, '-e', 'stderr']
  },
}
