/* A whole runtime in one file of C: Abs, Neg and Relu of float tensors behind the worker protocol (docs/reference.md).

    cc -O2 -o c_worker docs/examples/c_worker.c
    uv run --no-dev opcert doctor exec:./c_worker
    uv run --no-dev opcert certify exec:./c_worker Abs Neg Relu

It looks for keys in the JSON of a header with strstr, which is enough for operators without attributes and with one
input; use a JSON library for more. Put your runtime where `compute` is. */

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_HEADER = 16 << 20, MOST_BLOBS = 128, MOST_MODELS = 1 << 16 };

static FILE *requests, *answers;
static char *header;
static unsigned char *blobs[MOST_BLOBS];
static size_t lengths[MOST_BLOBS], blob_count;
static char models[MOST_MODELS]; /* the first letter of each loaded model's operator; 0 of none */

/* What stands behind a key of a header; an empty text where the key is not there. */
static const char *value_of(const char *json, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    const char *at = strstr(json, quoted);
    return at ? at + strlen(quoted) + strspn(at + strlen(quoted), ": ") : "";
}

static int is(const char *value, const char *word) {
    return *value == '"' && strncmp(value + 1, word, strlen(word)) == 0 && value[1 + strlen(word)] == '"';
}

static void answer(const char *json, const void *blob, size_t length) {
    uint32_t size = strlen(json);
    fwrite(&size, 4, 1, answers); /* little-endian, as the machine is */
    fwrite(json, 1, size, answers);
    fwrite(blob, 1, length, answers);
    fflush(answers);
}

static void refuse(const char *id, const char *class, const char *message) {
    char json[256];
    snprintf(json, sizeof json,
             "{\"type\": \"error\", \"id\": %s, \"class\": \"%s\", \"kind\": \"Error\", \"message\": \"%s\"}", id, class, message);
    answer(json, "", 0);
}

/* Reads one frame: 1, or 0 at the end of the input, or -1 where it cannot be read. */
static int read_frame(void) {
    uint32_t size;
    if (fread(&size, 4, 1, requests) != 1) return 0;
    if (size > MOST_HEADER || !(header = realloc(header, size + 1))) return -1;
    if (fread(header, 1, size, requests) != size) return 0;
    header[size] = 0;
    if (size < 2 || header[0] != '{' || header[size - 1] != '}') return -1;
    const char *at = value_of(header, "blobs");
    for (blob_count = 0; blob_count < MOST_BLOBS && *at && *at != ']'; at += strspn(at, ", ")) {
        char *end;
        lengths[blob_count] = strtoul(at + (*at == '['), &end, 10);
        if (end == at + (*at == '[')) break;
        at = end;
        if (!(blobs[blob_count] = realloc(blobs[blob_count], lengths[blob_count] + 1))) return -1;
        if (fread(blobs[blob_count], 1, lengths[blob_count], requests) != lengths[blob_count]) return 0;
        blob_count++;
    }
    return 1;
}

static void compute(char operator, float *x, size_t count) {
    for (size_t i = 0; i < count; i++)
        x[i] = operator == 'A' ? fabsf(x[i]) : operator == 'N' ? -x[i] : x[i] < 0 ? 0 : x[i];
}

int main(void) {
    static char json[4096];
    /* What the runtime prints must not stand among the frames. */
    requests = fdopen(dup(0), "rb"), answers = fdopen(dup(1), "wb");
    dup2(2, 1), dup2(open("/dev/null", O_RDONLY), 0);
    for (int found; (found = read_frame());) {
        if (found < 0) return refuse("null", "internal", "this is no frame"), 1;
        const char *type = value_of(header, "type");
        unsigned model = strtoul(value_of(header, "model"), NULL, 10) % MOST_MODELS;
        char id[24];
        snprintf(id, sizeof id, "%ld", strtol(value_of(header, "id"), NULL, 10));
        if (is(type, "hello")) {
            snprintf(json, sizeof json,
                     "{\"type\": \"hello\", \"id\": %s, \"protocol\": 2, "
                     "\"runtime\": {\"name\": \"c_worker\", \"version\": \"1\"}, \"domains\": {\"ai.onnx\": \"node\"}, "
                     "\"forms\": [\"inputs\"], \"element_types\": [\"float\"]}", id);
            answer(json, "", 0);
        } else if (is(type, "load")) {
            const char *name = value_of(value_of(header, "operator"), "name");
            if (!*name) {
                refuse(id, "internal", "the request names no operator");
            } else if (is(name, "Abs") || is(name, "Neg") || is(name, "Relu")) {
                models[model] = name[1];
                snprintf(json, sizeof json, "{\"type\": \"loaded\", \"id\": %s}", id);
                answer(json, "", 0);
            } else {
                refuse(id, "unsupported", "only Abs, Neg and Relu are here");
            }
        } else if (is(type, "run") && (!*value_of(header, "model") || !*value_of(header, "inputs") || !models[model])) {
            refuse(id, "internal", "no such model, or a key is missing");
        } else if (is(type, "run") && !blob_count) {
            refuse(id, "rejected", "the input is missing");
        } else if (is(type, "run")) {
            const char *shape = value_of(header, "shape");
            compute(models[model], (float *)blobs[0], lengths[0] / sizeof(float));
            snprintf(json, sizeof json,
                     "{\"type\": \"outputs\", \"id\": %s, \"blobs\": [%zu], "
                     "\"outputs\": [{\"element_type\": \"float\", \"shape\": %.*s], \"blob\": 0}]}",
                     id, lengths[0], (int)strcspn(shape, "]"), shape);
            answer(json, blobs[0], lengths[0]);
        } else if (is(type, "unload")) {
            models[model] = 0;
            snprintf(json, sizeof json, "{\"type\": \"unloaded\", \"id\": %s}", id);
            answer(json, "", 0);
        } else if (is(type, "shutdown")) {
            snprintf(json, sizeof json, "{\"type\": \"bye\", \"id\": %s}", id);
            return answer(json, "", 0), 0;
        } else {
            refuse(id, "internal", "unknown request");
        }
    }
    return 0;
}
