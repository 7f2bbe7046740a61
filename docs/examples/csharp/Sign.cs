// Signs a PDF in a sandbox: Sign document.pdf signed.pdf
//
// CLIENT_ID and CLIENT_SECRET are those of an API client, INNSIGLI_URL is the address of the server.
// It is C# 7 and uses the class library alone, so that .NET builds it, and Mono as well:
//
//     mcs -r:System.Net.Http,System.Runtime.Serialization Sign.cs
using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Threading.Tasks;
using System.Xml.Linq;

static class Sign
{
    static readonly HttpClient client = new HttpClient();
    static readonly string address = Environment.GetEnvironmentVariable("INNSIGLI_URL") ?? "http://127.0.0.1:8080";

    static int Main(string[] args)
    {
        try
        {
            string source = args[0], target = args[1];
            LogIn(Environment.GetEnvironmentVariable("CLIENT_ID"), Environment.GetEnvironmentVariable("CLIENT_SECRET")).Wait();
            File.WriteAllBytes(target, SignDocument(Path.GetFileName(source), File.ReadAllBytes(source)).Result);
            return 0;
        }
        catch (AggregateException e)
        {
            Console.Error.WriteLine(e.InnerException.Message);
            return 1;
        }
    }

    static async Task LogIn(string id, string secret)
    {
        var request = new HttpRequestMessage(HttpMethod.Post, address + "/api/v1/auth/token");
        request.Headers.Authorization = new AuthenticationHeaderValue("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes(id + ":" + secret)));
        request.Content = new FormUrlEncodedContent(new Dictionary<string, string> { { "grant_type", "client_credentials" } });
        using (var answer = await client.SendAsync(request))
        {
            if (!answer.IsSuccessStatusCode) throw new Exception("no token: " + await answer.Content.ReadAsStringAsync());
            client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", Member(await Json(answer), "access_token"));
        }
    }

    static async Task<byte[]> SignDocument(string name, byte[] document)
    {
        // A sandbox user stands in for a person. 422: there is one, from the last time.
        using (var made = await Call("/api/v1/sandbox/users", "{\"fullName\": \"Sandbox Signer\", \"kennitala\": \"0101302989\", \"phone\": \"5550101\"}"))
            if (made.StatusCode != HttpStatusCode.OK && (int)made.StatusCode != 422)
                throw new Exception("no sandbox user: " + await made.Content.ReadAsStringAsync());

        string body = "{\"file\": {\"type\": \"Pdf\", \"name\": " + Quoted(name) + ", \"contentB64\": \"" + Convert.ToBase64String(document) + "\"},"
            + " \"signer\": {\"kennitala\": \"0101302989\", \"signingMethod\": \"IdpApp\"},"
            + " \"signatureImage\": {\"alignment\": \"BottomRight\", \"positioning\": \"Auto\"}}";
        XElement started;
        using (var answer = await Call("/api/v1/signing", body))
        {
            if (!answer.IsSuccessStatusCode) throw new Exception("not started: " + await answer.Content.ReadAsStringAsync());
            started = await Json(answer);
        }
        return await Poll("/api/v1/signing/" + Member(started, "pollingId"), TimeSpan.FromSeconds(int.Parse(Member(started, "interval"))));
    }

    static async Task<byte[]> Poll(string path, TimeSpan interval)
    {
        for (;;)
        {
            await Task.Delay(interval);
            using (var answer = await Call(path, null))
            {
                var polled = await Json(answer);
                if (answer.IsSuccessStatusCode) return Convert.FromBase64String(Member(polled, "signedFileB64"));
                switch (Member(polled, "errorCode"))
                {
                    case "AuthorizationPending": Console.WriteLine("The phone shows " + (Member(polled, "verificationCode") ?? "no code yet") + "."); break;
                    case "SlowDown": interval += TimeSpan.FromSeconds(5); break;
                    default: throw new Exception("not signed: " + await answer.Content.ReadAsStringAsync());
                }
            }
        }
    }

    // Call calls the API, and waits as long as an answer of 429 or 503 asks for. Without a body it is a GET.
    static async Task<HttpResponseMessage> Call(string path, string body)
    {
        for (;;)
        {
            var request = new HttpRequestMessage(body == null ? HttpMethod.Get : HttpMethod.Post, address + path);
            if (body != null) request.Content = new StringContent(body, Encoding.UTF8, "application/json");
            var answer = await client.SendAsync(request);
            if ((int)answer.StatusCode != 429 && (int)answer.StatusCode != 503) return answer;
            await Task.Delay(answer.Headers.RetryAfter?.Delta ?? TimeSpan.FromSeconds(1));
            answer.Dispose();
        }
    }

    static async Task<XElement> Json(HttpResponseMessage answer)
    {
        byte[] content = await answer.Content.ReadAsByteArrayAsync();
        using (var reader = JsonReaderWriterFactory.CreateJsonReader(content, new System.Xml.XmlDictionaryReaderQuotas { MaxStringContentLength = int.MaxValue }))
            return XElement.Load(reader);
    }

    // Member is a member of a JSON object, null where it is absent or null.
    static string Member(XElement json, string name)
    {
        var member = json.Element(name);
        return member == null || (string)member.Attribute("type") == "null" ? null : member.Value;
    }

    static string Quoted(string text)
    {
        using (var buffer = new MemoryStream())
        {
            new DataContractJsonSerializer(typeof(string)).WriteObject(buffer, text);
            return Encoding.UTF8.GetString(buffer.ToArray());
        }
    }
}
