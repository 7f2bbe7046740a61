// Receives webhooks at http://127.0.0.1:PORT/hooks and prints what happened.
//
// WEBHOOK_SECRET is the secret of the subscription. It is C# 7 and uses the class library alone, so
// that .NET builds it, and Mono as well:
//
//     mcs -r:System.Runtime.Serialization,System.Xml,System.Xml.Linq Webhook.cs
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Runtime.Serialization.Json;
using System.Security.Cryptography;
using System.Text;
using System.Xml;
using System.Xml.Linq;

static class Webhook
{
    static readonly byte[] secret = FromHex(Environment.GetEnvironmentVariable("WEBHOOK_SECRET"));
    static readonly HashSet<string> handled = new HashSet<string>(); // a program for production keeps them with what they led to

    static void Main()
    {
        var listener = new HttpListener();
        listener.Prefixes.Add("http://127.0.0.1:" + Environment.GetEnvironmentVariable("PORT") + "/");
        listener.Start();
        for (;;)
        {
            var context = listener.GetContext();
            try
            {
                bool here = context.Request.HttpMethod == "POST" && context.Request.Url.AbsolutePath == "/hooks";
                context.Response.StatusCode = here ? Judge(context.Request) : 404;
            }
            catch (Exception e) // the event comes again
            {
                Console.Error.WriteLine(e.Message);
                context.Response.StatusCode = 500;
            }
            context.Response.Close();
        }
    }

    static int Judge(HttpListenerRequest request)
    {
        byte[] body = Read(request.InputStream, 1 << 20);
        if (body == null) return 413;
        string id = request.Headers["webhook-id"] ?? "", sent = request.Headers["webhook-timestamp"] ?? "";
        if (!Verifies(id, sent, request.Headers["webhook-signature"] ?? "", body)) return 401; // before anything else
        if (handled.Contains(id)) return 204;
        using (var reader = JsonReaderWriterFactory.CreateJsonReader(body, new XmlDictionaryReaderQuotas()))
        {
            var e = XElement.Load(reader);
            if (e.Element("type").Value != "webhook.ping") Console.WriteLine(e.Element("type").Value + " " + e.Element("data").ToString(SaveOptions.DisableFormatting));
        }
        handled.Add(id);
        return 204;
    }

    static bool Verifies(string id, string sent, string signatures, byte[] body)
    {
        long seconds;
        if (id == "" || id.Contains(".") || !long.TryParse(sent, NumberStyles.None, CultureInfo.InvariantCulture, out seconds)
            || Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - seconds) > 300)
            return false;
        using (var mac = new HMACSHA256(secret))
        {
            byte[] content = Encoding.UTF8.GetBytes(id + "." + sent + ".").Concat(body).ToArray();
            string right = "v1," + Convert.ToBase64String(mac.ComputeHash(content));
            return signatures.Split(' ').Count(signature => Same(signature, right)) > 0;
        }
    }

    // Same takes as long whichever characters differ. Where .NET has CryptographicOperations, use that.
    static bool Same(string a, string b)
    {
        if (a.Length != b.Length) return false;
        int different = 0;
        for (int i = 0; i < a.Length; i++) different |= a[i] ^ b[i];
        return different == 0;
    }

    static byte[] Read(Stream stream, int limit)
    {
        using (var all = new MemoryStream())
        {
            var piece = new byte[8192];
            for (int n; (n = stream.Read(piece, 0, piece.Length)) > 0 && all.Length <= limit;) all.Write(piece, 0, n);
            return all.Length > limit ? null : all.ToArray();
        }
    }

    static byte[] FromHex(string text)
    {
        return Enumerable.Range(0, text.Length / 2).Select(i => Convert.ToByte(text.Substring(2 * i, 2), 16)).ToArray();
    }
}
